// Keys for everything.

const KEYS = [
  ["space", "play the steps, or stop", [" "], () => play()],
  ["j ↓ →", "next step", ["j", "ArrowDown", "ArrowRight"], () => choose({ step: view.step + 1 })],
  ["k ↑ ←", "previous step", ["k", "ArrowUp", "ArrowLeft"], () => choose({ step: view.step - 1 })],
  ["Home", "first state", ["Home"], () => choose({ step: 0 })],
  ["End", "last state", ["End"], () => choose({ step: 1e9 })],
  ["d", "unfold all changes, or fold them", ["d"], () => unfoldAll(!list.all)],
  ["s", "state", ["s"], () => choose({ tab: "state" })],
  ["l", "lanes", ["l"], () => choose({ tab: "lanes" })],
  ["t", "by role", ["t"], () => choose({ tab: "table" })],
  ["g", "graph of the states around", ["g"], () => hasTab("graph") && choose({ tab: "graph" })],
  ["c", "code of the step", ["c"], () => hasTab("code") && choose({ tab: "code" })],
  ["f", "show only some fields", ["f"], () => focusFilter()],
  ["p", "show changes since this state", ["p"], () => pin()],
];
const PAGE_KEYS = [["n", "next path", ["n"], () => nextPath()]];
const PAIR_KEYS = [["o", "the other side", ["o"], () => choose({ side: 1 - view.side })]];
const LIVE_KEYS = [
  ["1 … 9", "take a step", [..."123456789"], (key) => choices.take(Number(key) - 1)],
  ["n", "to the next steps", ["n"], () => choices.focus()],
  ["b", "back to where you were", ["b"], () => history.back()],
  ["a", "another way to this state", ["a"], () => choices.another()],
  ["/", "find a state", ["/"], () => choices.finder.select()],
  ["w", "watch an expression", ["w"], () => choices.watcher.focus()],
];

function nextPath() {
  const trace = (view.trace + 1) % data.traces.length;
  choose({ trace, step: startOf(trace), side: 0 });
}

const HELP_KEYS = [["?", "these keys", ["?"], () => (help.open ? help.close() : help.showModal())]];
const keys = () => [...KEYS, ...(live ? LIVE_KEYS : PAGE_KEYS), ...(data.compared ? PAIR_KEYS : []), ...HELP_KEYS];

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !current()) return;
  if (event.key === "Escape") document.activeElement.blur();
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (event.key === " " && /^(BUTTON|SUMMARY)$/.test(event.target.tagName)) return; // it is pressed
  const found = keys().find(([, , known]) => known.includes(event.key));
  if (!found || (help.open && event.key !== "?")) return;
  event.preventDefault();
  if (event.key !== " ") player.stop();
  found[3](event.key);
}

function helpOf() {
  const close = h("form", { method: "dialog" }, h("button", null, "Close"));
  return [h("h2", null, "Keys"), h("dl", null, keys().map(([shown, what]) => [h("dt", null, shown), h("dd", null, what)])), close];
}
