/* The wall clock of a process, moved by the seconds that the file of JURY_MOVED_CLOCK holds; monotonic clocks stay.

   libfaketime cannot do it: with the monotonic clock left alone its clock_nanosleep fails, and Python sleeps by that. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long moved_by(void)
{
    long seconds = 0;
    const char *name = getenv("JURY_MOVED_CLOCK");
    FILE *file = name ? fopen(name, "r") : NULL;
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1)
            seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t which, struct timespec *now)
{
    static int (*original)(clockid_t, struct timespec *);
    if (!original)
        original = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = original(which, now);
    if (!failed && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
        now->tv_sec += moved_by();
    return failed;
}

int gettimeofday(struct timeval *now, void *zone)
{
    struct timespec found;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &found))
        return -1;
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *into)
{
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (into)
        *into = found.tv_sec;
    return found.tv_sec;
}
