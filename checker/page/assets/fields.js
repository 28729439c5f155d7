// The controls of the state: which fields are shown, whole states, what the state is compared with.

const wholeInput = h("input", {
  type: "checkbox",
  onchange: () => {
    drawn.panel = "";
    choose({ whole: wholeInput.checked });
    wholeInput.focus();
  },
});
const wholeLabel = h("label.toggle", null, wholeInput, "whole states");
const besideInput = h("input", {
  type: "checkbox",
  onchange: () => {
    choose({ since: besideInput.checked ? "side" : null });
    besideInput.focus();
  },
});
const besideLabel = h("label.toggle", null, besideInput, "what differs from the other side");

// The field that says which fields are shown; it keeps the cursor while the state below changes.
const filterInput = h("input", {
  type: "text",
  spellcheck: "false",
  autocomplete: "off",
  placeholder: "inbox, or -inbox to hide it",
  oninput: (event) => {
    drawn.panel = "";
    choose({ only: event.target.value.trim() });
    event.target.focus();
  },
});
const filterLabel = h("label.toggle.filter", null, "fields ", filterInput);

function filterOf() {
  if (document.activeElement !== filterInput) filterInput.value = view.only;
  return filterLabel;
}

function focusFilter() {
  if (view.tab !== "state" && view.tab !== "table") choose({ tab: "state" });
  filterInput.focus();
}
