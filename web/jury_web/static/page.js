// Follows a running debate, goes to earlier events, loads prompts, handles keys. The server renders all pages: the
// script fetches a page again and replaces what changed. It never parses text as markup.

const asDocument = (address) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => (request.status < 500 && request.response ? resolve(request.response) : reject(new Error(`${request.status}`)));
    request.onerror = () => reject(new Error("no connection"));
    request.send();
  });

// Elements as the server rendered them, before anything in them was loaded or opened.
const rendered = new WeakMap();
const remember = (element) => rendered.set(element, element.cloneNode(true));
const asRendered = (element) => rendered.get(element) ?? element;

const opened = (element) => new Set([...element.querySelectorAll("details[open][id]")].map((one) => one.id));

// The element of a replaced region that gets the focus: the same one, or the first link.
const sameElement = (focused, old, copy) => {
  const path = [];
  for (let one = focused; one !== old; one = one.parentElement) path.unshift([...one.parentElement.children].indexOf(one));
  const found = path.reduce((at, place) => at?.children[place], copy);
  return found?.tagName === focused.tagName ? found : copy.querySelector("a[href], summary");
};

const replace = (old, fresh) => {
  const open = opened(old);
  const copy = document.importNode(fresh, true);
  if (old.ariaLive) {
    // Screen readers announce changes within a live region, not a new element.
    rendered.set(old, fresh.cloneNode(true));
    old.ariaLive = copy.ariaLive;
    old.replaceChildren(...copy.childNodes);
    return;
  }
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  remember(copy);
  for (const one of copy.querySelectorAll("details[id]")) if (open.has(one.id)) one.open = true;
  old.replaceWith(copy);
  if (focused && focused !== old) sameElement(focused, old, copy)?.focus({ preventScroll: true });
  else if (focused) copy.focus({ preventScroll: true });
};

const replaceList = (old, fresh) => {
  const present = new Map([...old.children].map((one) => [one.id, one]));
  let place = null;
  for (const one of fresh.children) {
    const known = present.get(one.id);
    present.delete(one.id);
    if (known && asRendered(known).isEqualNode(one)) {
      place = known;
    } else if (known) {
      replace(known, one);
      place = document.getElementById(one.id);
    } else {
      const copy = document.importNode(one, true);
      remember(copy);
      if (place) place.after(copy);
      else old.prepend(copy);
      place = copy;
    }
  }
  for (const gone of present.values()) gone.remove();
};

const update = (fresh) => {
  // A debate that has ended has no further events.
  if (debate && !fresh.querySelector(".debate")?.dataset.live) delete debate.dataset.live;
  for (const region of fresh.querySelectorAll("[data-region]")) {
    const old = document.querySelector(`[data-region="${region.dataset.region}"]`);
    if (!old) continue;
    if ("list" in region.dataset) replaceList(old, region);
    else if (!asRendered(old).isEqualNode(region)) replace(old, region);
  }
  highlight();
  const [range, now] = [document.getElementById("at"), fresh.getElementById("at")];
  if (range && now) {
    range.max = now.max;
    if (document.activeElement !== range || range.value > now.max) range.value = now.getAttribute("value");
  }
};

// The quotation that the address names is highlighted whole: the server marks where it begins, and its pieces.
const highlight = () => {
  const name = /^#q-([0-9]+-[0-9]+)$/.exec(location.hash)?.[1];
  for (const one of document.querySelectorAll("mark.cited")) one.classList.toggle("current", one.dataset.quotations.split(" ").includes(name));
  for (let box = document.querySelector("mark.current")?.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
};

const debate = document.querySelector(".debate");
let source = null;

// One fetch at a time; a call during a fetch causes one more fetch.
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
      // Another page, such as the login page.
      if (!fresh.querySelector("[data-region]")) location.reload();
      update(fresh);
    }
    if (source?.readyState === EventSource.OPEN) lost(false);
    return true;
  } catch (error) {
    // The shown state would not match the address.
    if (debate && (isAt() || !debate.dataset.live)) location.reload();
    else if (debate) retry();
    return false;
  } finally {
    busy = false;
  }
};

for (const region of document.querySelectorAll("[data-region]")) {
  if ("list" in region.dataset) for (const one of region.children) remember(one);
  else remember(region);
}

// Folded items of a long transcript are on pages of their own, and are loaded when they are opened.
const loadItems = async (box) => {
  if ("loaded" in box.dataset) return;
  box.dataset.loaded = "";
  const link = box.querySelector(".fold-link");
  try {
    const items = (await asDocument(link.querySelector("a").href)).querySelector(".items");
    if (!items) return;
    link.replaceWith(document.importNode(items, true));
    highlight();
  } catch (error) {
    delete box.dataset.loaded;
  }
};

// The fold that has the item which the address names, where the document does not have it.
const foldOf = (name) => {
  const [, scenario, number] = /^#(?:item|i-([0-9]+))-([0-9]+)$/.exec(name) ?? [];
  if (!number || document.querySelector(name)) return null;
  const has = (box) => Number(box.dataset.first) <= number && number <= Number(box.dataset.last) && (!scenario || box.id.startsWith(`f-${scenario}-`));
  return [...document.querySelectorAll("details[data-items]")].find(has);
};
const goToItem = async () => {
  const [name, fold] = [location.hash, foldOf(location.hash)];
  if (!fold) return;
  for (let box = fold; box; box = box.parentElement.closest("details")) box.open = true;
  await loadItems(fold);
  if (location.hash === name) document.querySelector(name)?.scrollIntoView();
};

addEventListener("hashchange", () => {
  highlight();
  goToItem();
});
highlight();
goToItem();

// Live.
const isAt = () => new URL(location).searchParams.has("at");
let retryTimer = 0;
const retry = () => {
  lost(true);
  clearTimeout(retryTimer);
  retryTimer = setTimeout(() => isAt() || show(location.pathname).then((shown) => shown && follow()), 3000);
};
const lost = (is) => {
  const mark = document.getElementById("live");
  if (!mark || mark.classList.contains("lost") === is) return;
  mark.classList.toggle("lost", is);
  mark.lastChild.textContent = ` ${is ? debate.dataset.liveLost : debate.dataset.liveOn}`;
};
const onEvent = (event) => {
  const data = JSON.parse(event.data);
  const chunks = document.getElementById("chunks");
  if (data.type === "final_judge_chunk") {
    if (chunks) {
      chunks.hidden = false;
      chunks.append(data.chunk);
    }
    return;
  }
  const ended = ["debate_completed", "debate_failed", "debate_cancelled"].includes(data.type);
  if (ended) stop();
  if (chunks && (ended || data.type === "judgment_rendered")) {
    chunks.hidden = true;
    chunks.textContent = "";
  }
  show(location.pathname);
};
const follow = () => {
  if (!debate?.dataset.live || source) return;
  source = new EventSource(debate.dataset.live);
  source.onmessage = onEvent;
  source.onopen = () => {
    lost(false);
    show(location.pathname);
  };
  source.onerror = () => {
    lost(true);
    // A browser reconnects by itself, but not after a response such as 503.
    if (source?.readyState !== EventSource.CLOSED) return;
    stop();
    retry();
  };
};
const stop = () => {
  source?.close();
  source = null;
};

// Earlier events; each has its address.
const range = document.getElementById("at");
const goToEvent = (address, remembered = true) => {
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
addEventListener("popstate", () => range && goToEvent(location.href, false));
document.addEventListener("click", (event) => {
  const link = event.target.closest?.(".steps a, .past-state a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  goToEvent(link.getAttribute("href"));
});

// The other language shows the same event.
document.querySelector(".language")?.addEventListener("click", (event) => {
  const [to, here] = [new URL(event.currentTarget.href), new URL(location)];
  to.searchParams.delete("at");
  if (isAt()) to.searchParams.set("at", here.searchParams.get("at"));
  to.hash = here.hash;
  event.currentTarget.href = to;
});

// Prompts and answers are loaded when they are opened.
document.addEventListener(
  "toggle",
  async (event) => {
    const box = event.target;
    if (box.open && "items" in (box.dataset ?? {})) loadItems(box);
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
const statements = () => [...document.querySelectorAll(".statement, .choosable")];
const goTo = (step) => {
  const all = statements();
  if (!all.length) return;
  const current = all.findIndex((one) => one.classList.contains("current"));
  const next = all[current < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(current + step, 0), all.length - 1)];
  for (const one of all) one.classList.toggle("current", one === next);
  const article = next.querySelector("article") ?? next;
  article.tabIndex = -1;
  article.focus({ preventScroll: true });
  next.scrollIntoView({ block: "center" });
};
const searchField = () => document.querySelector("#q, .search-field");
// On the page of a review, keys choose the verdict and the item where it went wrong, go to the reason and the next case.
const review = document.getElementById("review");
const changed = (field) => field.dispatchEvent(new Event("change", { bubbles: true }));
// A form that is folded away, to give another verdict, is opened.
const unfold = () => {
  const folded = review.closest("details");
  if (folded) folded.open = true;
};
const choose = (choice) => {
  unfold();
  choice.checked = true;
  changed(choice);
  choice.focus();
};
const decide = () => {
  const none = document.getElementById("no-item");
  const item = document.activeElement.closest(".choosable") ?? document.querySelector(".choosable.current");
  if (!none) return;
  if (!item) return goTo(1);
  const choice = item.querySelector('[name="decisive_item"]');
  const next = choice.checked && !review.closest("details:not([open])") ? none : choice;
  unfold();
  next.checked = true;
  changed(next);
};
// A pass names no item, and of a marked item and a number only one counts.
const settle = ({ target }) => {
  const none = document.getElementById("no-item");
  if (!review || target.form !== review || !none) return;
  const number = document.getElementById("item-number");
  const isPass = target.dataset.outcome === "pass" && target.checked;
  if (isPass || (target === number && number.value)) none.checked = true;
  if (number && (isPass || target.name === "decisive_item")) number.value = "";
  const item = review.querySelector('#item-number:valid')?.value || review.elements.decisive_item.value;
  if (item && !isPass) for (const pass of review.querySelectorAll('[data-outcome="pass"]')) pass.checked = false;
  const shown = document.getElementById("chosen-item");
  shown.value = item ? `★ ${shown.dataset.text.replace("{number}", item)}` : "";
};
document.addEventListener("change", settle);
const reviewKeys = review && {
  ...Object.fromEntries([...review.querySelectorAll("[data-key]")].map((one) => [one.dataset.key, () => choose(one)])),
  d: decide,
  r: () => document.getElementById("reason").focus(),
};
review?.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    review.requestSubmit();
  }
  if (event.key === "Escape") event.target.blur();
});
const keys = {
  j: () => goTo(1),
  k: () => goTo(-1),
  o: () => {
    const box = document.querySelector(".statement.current details.calls");
    if (box) box.open = !box.open;
  },
  "[": () => document.querySelector(':is(.steps, .item-pages) a[rel="prev"]')?.click(),
  "]": () => document.querySelector(':is(.steps, .item-pages) a[rel="next"]')?.click(),
  p: () => document.getElementById("debate-before")?.click(),
  n: () => document.getElementById("debate-after")?.click(),
  "/": () => searchField()?.focus(),
  s: () => document.getElementById("review-next")?.click(),
  ...reviewKeys,
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input:not([type="radio"]), select, textarea')) return;
  const act = keys[event.key];
  if (!act || (event.key === "/" && !searchField())) return;
  event.preventDefault();
  act();
});

// Records of a list are checked after it is shown; a running run is fetched repeatedly.
const check = document.querySelector("a[data-then]");
if (check) show(check.href).then((shown) => shown && check.remove());
const run = document.querySelector("[data-again]");
const refresh = async () => {
  if (!document.hidden) {
    try {
      const fresh = await asDocument(location.href);
      update(fresh);
      if (!fresh.querySelector("[data-again]")) return;
    } catch (error) {
      // The server may be back at the next refresh.
    }
  }
  setTimeout(refresh, Number(run.dataset.again));
};
if (run) setTimeout(refresh, Number(run.dataset.again));

if (!isAt()) follow();
