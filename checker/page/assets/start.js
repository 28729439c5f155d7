// How the page begins: a report in a file, or the explorer.

function onAddress() {
  const path = live && textPath(address().get("path") || "");
  if (path && !same(path, current().path)) {
    readView(address());
    go(path, Number(address().get("step")), false, printsOf(address()));
    return;
  }
  readAddress();
  draw();
}

function frame() {
  const found = current() && !live ? `${nameOf(current())} · ` : "";
  document.title = `${found}${data.spec} · statewalk`;
  const constants = data.constants.map(([name, value]) => h("span.constant", null, h("span.dim", null, name), " ", value));
  const listed = constants.length ? h("details.constants", null, h("summary", null, plural(constants.length, "constant")), h("div", null, constants)) : null;
  const open = h("button.keys", { onclick: () => help.showModal(), "aria-label": "keys" }, "?");
  fill(help, helpOf());
  const main = h("main");
  document.body.append(h("header.top", null, h("span.brand", null, "statewalk"), h("span.spec", null, data.spec), listed, data.about ? h("span.about", { title: data.about }, data.about) : null, open), main, help);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", onAddress);
  window.addEventListener("popstate", onAddress);
  wide.addEventListener("change", () => current() && draw());
  window.addEventListener("resize", resized);
  window.addEventListener("beforeprint", () => {
    if (current()) unfoldAll(true);
    finish();
  });
  return main;
}

const explored = () => [title, why, live ? status : null, box, below];

function startPage() {
  if (data.alone || data.traces.some((path) => path.around)) TABS.push(["graph", "Graph"]);
  if (Object.keys(data.code || {}).length) TABS.push(["code", "Code"]);
  const main = frame();
  readAddress();
  const show = (at) => {
    choose({ trace: at, step: startOf(at) });
    title.scrollIntoView({ behavior: still.matches ? "auto" : "smooth" });
  };
  const wrong = data.result && ["violated", "error"].includes(data.result.verdict);
  const paths = current() ? explored() : null;
  if (data.compared) add(main, [comparedHead(data.compared), paths, comparedReport(data)]);
  else if (wrong && paths) add(main, [paths, cards(data, show)]);
  else add(main, [data.result ? [verdict(data), cards(data, show)] : null, paths]);
  if (current()) draw();
}

async function startLive() {
  live = new Live(takeToken());
  choices = new Choices(live, go, say);
  choices.onwatch = watch;
  graph = new Around(live, go, say, () => writeAddress());
  TABS.push(["graph", "Graph"], ["code", "Code"]);
  let first;
  try {
    data = await live.ask("start", {});
    readView(address());
    const asked = textPath(address().get("path") || "");
    const step = asked ? Number(address().get("step")) : 1e9;
    first = [asked || data.start, step, false, asked ? printsOf(address()) : []];
  } catch (error) {
    document.body.append(h("main", null, h("h2", null, "There is nothing to explore"), h("p", null, error.message)));
    return;
  }
  add(frame(), explored());
  const listed = data.python ? data.names : data.properties;
  const hint = data.python ? "Python with the names of the spec, or a property" : "a property of the spec";
  fill(choices.hint, hint, listed.length ? h("code", null, listed.slice(0, 12).join(" · "), listed.length > 12 ? " …" : "") : null);
  await go(...first);
  if (!current()) await go(data.start, 1e9, false);
}

if (data.live) startLive();
else startPage();
