"use strict";
// What the three lists say is shown, and kept in the address, so that a view can be sent.
const lists = [...document.querySelectorAll("select[name]")];

// A mark holds one value, or several between spaces.
function fits(mark, wanted) {
  return wanted === "" || mark === wanted || (mark.startsWith(" ") && mark.includes(" " + wanted + " "));
}

function show() {
  const wanted = Object.fromEntries(lists.map((l) => [l.name, l.value]));
  let shown = 0;
  for (const e of document.querySelectorAll("[data-family], [data-device], [data-size]")) {
    e.hidden = ["family", "device", "size"].some((k) => k in e.dataset && !fits(e.dataset[k], wanted[k]));
    e.toggleAttribute("hidden", e.hidden);
    if (e.tagName === "SECTION" && !e.hidden) shown++;
  }
  document.getElementById("shown").textContent = shown + " of " + document.querySelectorAll("section").length + " shown";
}

function read() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const l of lists) {
    const value = asked.get(l.name) ?? "";
    l.value = [...l.options].some((o) => o.value === value) ? value : "";
  }
  show();
}

for (const l of lists) {
  l.addEventListener("change", () => {
    const asked = new URLSearchParams(lists.filter((x) => x.value !== "").map((x) => [x.name, x.value]));
    history.replaceState(null, "", "#" + asked);
    show();
  });
}
addEventListener("hashchange", read);
read();
