// What is shown, for others: an address, text for Markdown, a picture.

const COLOURS = "bg card ink dim line edge soft accent wash good bad warn goodwash badwash warnwash s0 s1 s2 s3 s4 s5".split(" ");

// A drawing as an SVG that stands alone, in the colours of the page.
function standalone({ width, height, shapes, head, lanes, kind }) {
  const places = lanes ? new Places(lanes, width, 0) : null;
  const wide = places ? places.width : width;
  const top = lanes ? 36 : 0;
  const tall = height + top;
  const picture = shape(["svg", { xmlns: "http://www.w3.org/2000/svg", width: wide, height: tall, viewBox: `0 0 ${wide} ${tall}` }, ""]);
  const of = getComputedStyle(document.documentElement);
  const known = COLOURS.map((name) => `--${name}: ${of.getPropertyValue("--" + name)}`).join("; ");
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => /\.lanes|\.drawing|\.spot|\.way/.test(rule.selectorText || ""));
  style.textContent = `svg { ${known} } ${rules.map((rule) => rule.cssText).join("\n")}`;
  const inner = shape(["g", { class: kind ? "lanes " + kind : "lanes" }, ""]);
  const body = shape(["g", { transform: `translate(0 ${top})` }, ""]);
  const now = (one) => (places ? places.shape(one) : one);
  for (const one of shapes.map(now)) if (one) body.append(shape(one));
  for (const one of (head || []).map(now)) if (one) inner.append(shape(one));
  inner.append(body);
  picture.append(style, shape(["rect", { width: wide, height: tall, fill: of.getPropertyValue("--card") }, ""]), inner);
  return new XMLSerializer().serializeToString(picture);
}

// The drawing of the view: the spec's picture beside the state, the graph in its view, else
// the sequence diagram.
function drawingShown() {
  const path = shown();
  const picture = view.tab === "state" && path.pictures && drawingOf(path.pictures[0], view.step);
  if (picture && !picture.error) return { ...picture, kind: "drawing" };
  if (view.tab !== "graph") return path.lanes;
  const around = live ? graph.drawing : path.around && path.around[view.step] && path.around[view.step].drawing;
  return around || path.lanes;
}

function download(name, address) {
  const link = h("a", { download: name, href: address });
  document.body.append(link);
  link.click();
  link.remove();
}

const asAddress = (svg) => "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
const fileName = (ending) => `${nameOf(shown()).replace(/[^\w-]+/g, "-") || "path"}.${ending}`;

// PNG at twice the size, for screens and slides.
async function asPng(svg) {
  const image = new Image();
  image.src = asAddress(svg);
  await image.decode();
  const canvas = h("canvas", { width: 2 * image.width, height: 2 * image.height });
  const pen = canvas.getContext("2d");
  pen.scale(2, 2);
  pen.drawImage(image, 0, 0);
  return canvas.toDataURL("image/png");
}

// Copy a text; where the browser does not allow that, show it to be copied by hand.
async function copyText(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    return said;
  } catch {
    const area = h("textarea", { rows: "12", cols: "80", readonly: true, "aria-label": "text to copy" }, text);
    const close = h("form", { method: "dialog" }, h("button", null, "Close"));
    const box = h("dialog.help", { "aria-label": "text to copy" }, area, close);
    document.body.append(box);
    box.addEventListener("close", () => box.remove());
    box.showModal();
    area.select();
    return "Copy the text that is selected.";
  }
}

class Share {
  constructor() {
    this.said = h("span.dim", { role: "status" });
    const item = (word, act) => h("button.plain", { onclick: () => this.run(act) }, word);
    this.menu = h(
      "details.share",
      null,
      h("summary", { "aria-label": "copy or save" }, "Share"),
      h(
        "div",
        null,
        item("Copy link", () => copyText(location.href, "The link is copied.")),
        item("Copy as Mermaid", () => copyText(shown().mermaid, "The diagram is copied as Mermaid.")),
        item("Save SVG", () => download(fileName("svg"), asAddress(standalone(drawingShown())))),
        item("Save PNG", async () => download(fileName("png"), await asPng(standalone(drawingShown())))),
        this.said,
      ),
    );
    this.element = this.menu;
    this.menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.menu.open = false;
      this.menu.firstChild.focus();
    });
  }

  async run(act) {
    fill(this.said, (await act()) || "Saved.");
    setTimeout(() => fill(this.said), 4000);
  }
}
