#!/bin/sh
# Judges the same cases with the panel in use and with a changed one, and fails where the changed one is worse.
#
#   gate.sh CASES PANEL CHANGED_PANEL [OPTIONS OF jury gate ...]
#
# Exit codes are those of `jury gate`: 0 not worse, 1 worse, 6 the cases do not decide it; a run that does not end well
# ends the script with its own (docs/reference/exit-codes.md). Writes gate.xml (JUnit) and gate.md, which is also appended to
# $GITHUB_STEP_SUMMARY where that is set. The log of both runs is in $JURY_STORE_URL, else sqlite:///jury.db.
set -eu
if [ "$#" -lt 3 ]; then
    echo "usage: gate.sh CASES PANEL CHANGED_PANEL [OPTIONS OF jury gate ...]" >&2
    exit 2
fi
cases=$1 panel=$2 changed=$3
shift 3

jury run "$cases" --run base --panel "$panel" --in-process
jury run "$cases" --run candidate --panel "$changed" --in-process

code=0
jury gate base candidate --junit gate.xml --markdown gate.md "$@" || code=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f gate.md ]; then
    cat gate.md >> "$GITHUB_STEP_SUMMARY"
fi
exit "$code"
