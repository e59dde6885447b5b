// Draws random trees one after another into the same place; each must come out as it does in an empty place.
// Returns what came out and what should have, or null.
(seed) => {
  const { h, render, Fragment } = Preact;
  const TREES = 300;
  const STEPS = 10;

  let state = seed;
  const upTo = (count) => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    return (state >> 8) % count;
  };
  const chance = () => upTo(2) === 1;

  const Plain = ({ children }) => children;
  const Nothing = () => null;
  const Sometimes = ({ is_there, children }) => is_there && h("b", null, children);
  const Several = ({ count, children }) => [h("i", null, count), children, count % 2 ? null : h("u", null)];
  const reused = [h("em", null, "reused"), h(Sometimes, { is_there: true }, "again")];

  function tree(depth) {
    const kind = upTo(13);
    if (depth === 0 || kind === 0) return `words ${upTo(5)}`;
    if (kind === 1) return null;
    if (kind === 2) return false;
    if (kind === 3) return reused;
    if (kind === 4) return h(Nothing, null);
    let children = Array.from({ length: upTo(6) }, () => tree(depth - 1));
    if (chance()) {
      const keys = Array.from({ length: 12 }, (_, key) => key);
      children = children.filter((child) => child?.type);
      for (const child of children) child.key = keys.splice(upTo(keys.length), 1)[0];
    }
    if (kind === 5) return children;
    if (kind === 6) return h(Fragment, null, children);
    if (kind === 7) return h(Plain, null, children);
    if (kind === 8) return h(Sometimes, { is_there: chance() }, children);
    if (kind === 9) return h(Several, { count: upTo(4) }, children);
    const attributes = {};
    if (chance()) attributes.class = `kind-${upTo(3)}`;
    if (chance()) attributes["aria-busy"] = chance();
    if (chance()) attributes.hidden = chance();
    return h(["div", "p", "section"][upTo(3)], attributes, ...children);
  }

  const look = (place) => {
    const elements = [...place.querySelectorAll("*")].map((each) =>
      [each.localName, each.getAttribute("class"), each.ariaBusy, each.hidden, each.childNodes.length].join(),
    );
    return `${elements.join(" ")} ${place.textContent}`;
  };

  for (let number = 0; number < TREES; number += 1) {
    const place = document.createElement("div");
    for (let step = 0; step < STEPS; step += 1) {
      const before = state;
      render(tree(5), place);
      state = before;
      const fresh = document.createElement("div");
      render(tree(5), fresh);
      if (look(place) !== look(fresh)) return [place.innerHTML, fresh.innerHTML];
    }
  }
  return null;
};
