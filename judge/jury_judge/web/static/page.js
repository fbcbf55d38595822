// What the page does beyond links and forms: it follows a running debate, winds back, opens prompts, takes keys.
// The server renders; this takes over what changed in a page fetched again. No text ever becomes markup here.

const asDocument = (address) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => (request.status < 500 && request.response ? resolve(request.response) : reject(new Error(`${request.status}`)));
    request.onerror = () => reject(new Error("no connection"));
    request.send();
  });

// What the server said of an element, before anything was loaded into it or opened.
const said = new WeakMap();
const remember = (element) => said.set(element, element.cloneNode(true));
const asSaid = (element) => said.get(element) ?? element;

const opened = (element) => new Set([...element.querySelectorAll("details[open][id]")].map((one) => one.id));

// Whoever went somewhere by keyboard stays there, or close by, when the place is made anew.
const inPlaceOf = (focused, old, copy) => {
  const path = [];
  for (let one = focused; one !== old; one = one.parentElement) path.unshift([...one.parentElement.children].indexOf(one));
  const found = path.reduce((at, place) => at?.children[place], copy);
  return found?.tagName === focused.tagName ? found : copy.querySelector("a[href], summary");
};

const put = (old, fresh) => {
  const open = opened(old);
  const copy = document.importNode(fresh, true);
  if (old.ariaLive) {
    // Readers are told what changes within such an element, not of a new one.
    said.set(old, fresh.cloneNode(true));
    old.ariaLive = copy.ariaLive;
    old.replaceChildren(...copy.childNodes);
    return;
  }
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  remember(copy);
  for (const one of copy.querySelectorAll("details[id]")) if (open.has(one.id)) one.open = true;
  old.replaceWith(copy);
  if (focused && focused !== old) inPlaceOf(focused, old, copy)?.focus({ preventScroll: true });
  else if (focused) copy.focus({ preventScroll: true });
};

const takeList = (old, fresh) => {
  const there = new Map([...old.children].map((one) => [one.id, one]));
  let place = null;
  for (const one of fresh.children) {
    const known = there.get(one.id);
    there.delete(one.id);
    if (known && asSaid(known).isEqualNode(one)) {
      place = known;
    } else if (known) {
      put(known, one);
      place = document.getElementById(one.id);
    } else {
      const copy = document.importNode(one, true);
      remember(copy);
      if (place) place.after(copy);
      else old.prepend(copy);
      place = copy;
    }
  }
  for (const gone of there.values()) gone.remove();
};

const take = (fresh) => {
  // Nothing more comes of a debate that is over.
  if (debate && !fresh.querySelector(".debate")?.dataset.live) delete debate.dataset.live;
  for (const region of fresh.querySelectorAll("[data-region]")) {
    const old = document.querySelector(`[data-region="${region.dataset.region}"]`);
    if (!old) continue;
    if ("list" in region.dataset) takeList(old, region);
    else if (!asSaid(old).isEqualNode(region)) put(old, region);
  }
  const [range, now] = [document.getElementById("at"), fresh.getElementById("at")];
  if (range && now) {
    range.max = now.max;
    if (document.activeElement !== range || range.value > now.max) range.value = now.getAttribute("value");
  }
};

const debate = document.querySelector(".debate");
let source = null;

// One fetch at a time; whoever asks meanwhile gets one more when it is done.
let busy = false;
let wanted = null;
const show = async (address) => {
  wanted = address;
  if (busy) return true;
  busy = true;
  try {
    while (wanted) {
      const next = wanted;
      wanted = null;
      const fresh = await asDocument(next);
      // Another page came, as the one where to log in.
      if (!fresh.querySelector("[data-region]")) location.reload();
      take(fresh);
    }
    if (source?.readyState === EventSource.OPEN) lost(false);
    return true;
  } catch (error) {
    // What stands there would not be what the address says.
    if (debate && (isAt() || !debate.dataset.live)) location.reload();
    else if (debate) lookAgain();
    return false;
  } finally {
    busy = false;
  }
};

for (const region of document.querySelectorAll("[data-region]")) {
  if ("list" in region.dataset) for (const one of region.children) remember(one);
  else remember(region);
}

// Live.
const isAt = () => new URL(location).searchParams.has("at");
let looking = 0;
const lookAgain = () => {
  lost(true);
  clearTimeout(looking);
  looking = setTimeout(() => isAt() || show(location.pathname).then((shown) => shown && follow()), 3000);
};
const lost = (is) => {
  const mark = document.getElementById("live");
  if (!mark || mark.classList.contains("lost") === is) return;
  mark.classList.toggle("lost", is);
  mark.lastChild.textContent = ` ${is ? debate.dataset.liveLost : debate.dataset.liveOn}`;
};
const hear = (event) => {
  const told = JSON.parse(event.data);
  const chunks = document.getElementById("chunks");
  if (told.type === "final_judge_chunk") {
    if (chunks) {
      chunks.hidden = false;
      chunks.append(told.chunk);
    }
    return;
  }
  const over = ["debate_completed", "debate_failed", "debate_cancelled"].includes(told.type);
  if (over) stop();
  if (chunks && (over || told.type === "judgment_rendered")) {
    chunks.hidden = true;
    chunks.textContent = "";
  }
  show(location.pathname);
};
const follow = () => {
  if (!debate?.dataset.live || source) return;
  source = new EventSource(debate.dataset.live);
  source.onmessage = hear;
  source.onopen = () => {
    lost(false);
    show(location.pathname);
  };
  source.onerror = () => {
    lost(true);
    // A browser tries again by itself, but not after an answer such as 503.
    if (source?.readyState !== EventSource.CLOSED) return;
    stop();
    lookAgain();
  };
};
const stop = () => {
  source?.close();
  source = null;
};

// Wind back and forth; each place has its address.
const range = document.getElementById("at");
const windTo = (address, remembered = true) => {
  const at = new URL(address, location).searchParams.get("at");
  if (remembered) history.pushState(null, "", address);
  if (range && at) range.value = at;
  if (at) stop();
  show(address).then(() => at ?? follow());
};
range?.addEventListener("input", () => {
  const address = `${location.pathname}?at=${range.value}`;
  history.replaceState(null, "", address);
  stop();
  show(address);
});
addEventListener("popstate", () => range && windTo(location.href, false));
document.addEventListener("click", (event) => {
  const link = event.target.closest?.(".steps a, .wound-back a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  windTo(link.getAttribute("href"));
});

// The other language shows the same place.
document.querySelector(".language")?.addEventListener("click", (event) => {
  const [to, here] = [new URL(event.currentTarget.href), new URL(location)];
  to.searchParams.delete("at");
  if (isAt()) to.searchParams.set("at", here.searchParams.get("at"));
  to.hash = here.hash;
  event.currentTarget.href = to;
});

// Prompts and answers are fetched when they are opened.
document.addEventListener(
  "toggle",
  async (event) => {
    const box = event.target;
    if (!box.open || !("lazy" in (box.dataset ?? {})) || "loaded" in box.dataset) return;
    box.dataset.loaded = "";
    for (const link of box.querySelectorAll(".call-links a")) {
      try {
        const fetched = (await asDocument(link.href)).querySelector(".exchange");
        if (fetched) box.append(document.importNode(fetched, true));
      } catch (error) {
        delete box.dataset.loaded;
      }
    }
  },
  true,
);

// Keys.
const spoken = () => [...document.querySelectorAll(".said")];
const goTo = (step) => {
  const all = spoken();
  if (!all.length) return;
  const current = all.findIndex((one) => one.classList.contains("current"));
  const next = all[current < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(current + step, 0), all.length - 1)];
  for (const one of all) one.classList.toggle("current", one === next);
  const article = next.querySelector("article");
  article.tabIndex = -1;
  article.focus({ preventScroll: true });
  next.scrollIntoView({ block: "center" });
};
const keys = {
  j: () => goTo(1),
  k: () => goTo(-1),
  o: () => {
    const box = document.querySelector(".said.current details.behind");
    if (box) box.open = !box.open;
  },
  "[": () => document.querySelector('.steps a[rel="prev"]')?.click(),
  "]": () => document.querySelector('.steps a[rel="next"]')?.click(),
  p: () => document.getElementById("debate-before")?.click(),
  n: () => document.getElementById("debate-after")?.click(),
  "/": () => document.getElementById("q")?.focus(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea")) return;
  const act = keys[event.key];
  if (!act || (event.key === "/" && !document.getElementById("q"))) return;
  event.preventDefault();
  act();
});

// A list's records are checked after it is shown; a run that goes on is looked at again.
const check = document.querySelector("a[data-then]");
if (check) show(check.href).then((shown) => shown && check.remove());
const run = document.querySelector("[data-again]");
const again = async () => {
  if (!document.hidden) {
    try {
      const fresh = await asDocument(location.href);
      take(fresh);
      if (!fresh.querySelector("[data-again]")) return;
    } catch (error) {
      // The next look may find the server again.
    }
  }
  setTimeout(again, Number(run.dataset.again));
};
if (run) setTimeout(again, Number(run.dataset.again));

if (!isAt()) follow();
