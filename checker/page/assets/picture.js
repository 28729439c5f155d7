// Pictures of a state that the spec declares. They were laid out by who made the page: here shapes
// become elements, and what the picture shows is said in text, too.

const drawingOf = (one, at) => one.drawings[one.at[Math.min(at, one.at.length - 1)]];

const SMALLEST = 0.65; // of a picture's size

function pictureOf(one, at) {
  const found = drawingOf(one, at);
  if (found.error) return h("p.wrong", { role: "alert" }, eased(found.error));
  const { width, height, shapes, text } = found;
  const picture = shape(["svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": visible(text) }, ""]);
  picture.style.minWidth = `${Math.round(width * SMALLEST)}px`;
  for (const one of shapes) picture.append(shape(one));
  return h("div.scroll.lanes.drawing", { tabindex: "0", role: "region", "aria-label": "picture " + one.name }, picture);
}

function picturesOf(path, at) {
  return (path.pictures || []).map((one) =>
    h("figure.picture", null, path.pictures.length > 1 || one.doc ? h("figcaption", null, h("b", null, one.name), one.doc ? " · " : "", h("span.dim", null, one.doc)) : null, pictureOf(one, at)),
  );
}
