/*
 * What of Preact is not bundled. The widget is drawn anew from its root whenever something changed, so its components are
 * functions without state: there are no classes, hooks, context and error boundaries, and no hydration, portals, `style`
 * objects and `dangerouslySetInnerHTML` either. A ref is a function; it is called with the element when that stands in
 * the page, and never with null. How children are compared, kept and moved is Preact's own, untouched.
 *
 * Cuts are made for one release. The build fails with any other, and where a cut does not fit: then read what Preact
 * changed in its `src`, cut anew, and see that tests/ui/test_widget_preact.py and the widget's other tests pass.
 */

export const RELEASE = "11.2.0";

/** What stands between the one line that begins with `from` and the next that begins with `to`, or the file's end. */
interface Cut {
  from: string;
  to?: string;
  /** Stands there instead. */
  put?: string;
}

/** Parameters and arguments that would carry nothing, and what addons hang on. Each has a line of its own. */
const NOWHERE =
  /^\t+(globalContext|namespace|excessDomChildren|commitQueue|isHydrating),\n|^import options from .*\n/gm;

const CUTS: Record<string, readonly Cut[]> = {
  "index.js": [
    { from: "export { render, hydrate }", to: "export {\n", put: "export { render } from './render';\n" },
    { from: "export { BaseComponent" },
  ],

  "component.js": [
    { from: "import {\n", to: "import { Fragment", put: "import { NULL } from './constants';\n" },
    { from: "import { Fragment", to: "export function getDomSibling" },
    {
      from: "\treturn typeof vnode.type == 'function' &&",
      to: "\t\t?",
      put: "\treturn typeof vnode.type == 'function'\n",
    },
    { from: "/**\n * Trigger in-place" },
  ],

  "render.js": [
    { from: "import { commitRoot,", to: "import { createVNode", put: "import { diff } from './diff/index';\n" },
    {
      from: "\tif (options._root)",
      put: `
	const oldVNode = parentDom._children;
	const refQueue = [];
	parentDom._children = createVNode(Fragment, { children: vnode });
	diff(parentDom, parentDom._children, oldVNode || EMPTY_OBJ, oldVNode && oldVNode._dom, refQueue);
	for (const [ref, dom] of refQueue) ref(dom);
}
`,
    },
  ],

  "create-element.js": [{ from: "\tif (!original && options.vnode)", to: "\n\treturn vnode;" }],

  "diff/index.js": [
    { from: "import { BaseComponent,", to: "import {\n", put: "import { getDomSibling } from '../component';\n" },
    {
      from: "\t/** @type {any} */\n\tlet tmp,",
      to: "/**\n * Diff two virtual nodes representing DOM element",
      put: `
	// Only diff VNodes created by Preact.
	if (newVNode.constructor !== VNODE_MARKER) return NULL;
	if (typeof newVNode.type != 'function') {
		return (newVNode._dom = diffElementNodes(oldVNode._dom, newVNode, oldVNode, refQueue, parentDom));
	}
	const result = newVNode.type(newVNode.props);
	return diffChildren(parentDom, isArray(result) ? result : [result], newVNode, oldVNode, oldDom, refQueue);
}

`,
    },
    { from: "\t// Tracks entering and exiting namespaces", to: "\tif (!dom) {" },
    {
      from: "\t\tconst doc =",
      to: "\n\tif (!nodeType) {",
      put: `
		if (!nodeType) return document.createTextNode(newProps);
		dom = document.createElementNS(nodeType == 'svg' ? SVG_NAMESPACE : parentDom.namespaceURI, nodeType);
	}
`,
    },
    { from: "\t\tif (oldProps !== newProps && (", to: "\t\t\tdom.data =", put: "\t\tif (oldProps !== newProps) {\n" },
    {
      from: "\t\t// A <template> holds",
      to: "\treturn dom;",
      put: `
		for (i in oldProps) {
			if (i != 'children' && !(i in newProps)) setProperty(dom, i, NULL);
		}
		for (i in newProps) {
			value = newProps[i];
			// Visitors change the value of a field, too.
			if (i != 'children' && (i == 'value' ? dom : oldProps)[i] !== value) setProperty(dom, i, value);
		}
		newChildren = newProps.children;
		diffChildren(
			dom,
			isArray(newChildren) ? newChildren : [newChildren],
			newVNode,
			oldVNode,
			oldVNode._children && getDomSibling(oldVNode, 0),
			refQueue
		);
	}
`,
    },
    { from: "/**\n * Invoke or update a ref", to: "/**\n * Unmount a virtual node" },
    {
      from: "\tlet r, end, nodes;",
      put: `
	if (vnode._children) {
		vnode._children.some(child => {
			if (child) unmount(child, parentVNode, skipRemove || typeof vnode.type != 'function');
		});
	}
	if (!skipRemove) removeNode(vnode._dom);
	vnode._dom = vnode._parent = NULL;
}
`,
    },
  ],

  "diff/children.js": [
    { from: "import { diff, unmount,", to: "import { createVNode", put: "import { diff, unmount } from './index';\n" },
    {
      from: "\t\t// A ref detached while",
      to: "\t\tfirstChildDom =",
      put: "\t\tif (childVNode.ref && childVNode.ref != oldVNode.ref) refQueue.push([childVNode.ref, newDom]);\n",
    },
  ],

  "diff/props.js": [
    {
      from: "\tlet useCapture;",
      to: "\t\t\ttry {",
      put: `
	// The property takes one listener, and JSX gives one.
	if (name[0] == 'o' && name[1] == 'n') name = name.toLowerCase();
	// An empty tabIndex would be 0.
	if (name != 'tabIndex' && name in dom) {
`,
    },
    { from: "\t\t}\n\n\t\t// aria- and data-", to: "\t\t// Never serialize", put: "\t\t}\n" },
    { from: "\t\t\tdom.setAttribute(", to: "\t\t} else {", put: "\t\t\tdom.setAttribute(name, value);\n" },
    { from: "\t}\n}\n\n/**\n * Create an event proxy", put: "}\n" },
  ],
};

/** The text of a file in Preact's `src`, without what is not bundled. Throws where a cut does not fit. */
export function cutPreact(file: string, text: string): string {
  let rest = text.replace(NOWHERE, "");
  for (const { from, to, put = "" } of CUTS[file] ?? []) {
    const begin = rest.indexOf(from);
    const end = to === undefined ? rest.length : rest.indexOf(to, begin + 1);
    const is_clear = begin >= 0 && begin === rest.lastIndexOf(from) && end > 0;
    if (!is_clear) throw new Error(`preact-cuts.ts does not fit ${file} of Preact: ${from}`);
    rest = rest.slice(0, begin) + put + rest.slice(end);
  }
  return rest;
}
