import { render } from "preact";
import { App } from "./app";
import type { Handle, Launch } from "./launch";
import styles from "./styles.css?inline";
import { chooseLanguage } from "./texts";
import { Widget } from "./widget";

/** Brings the widget to life behind its launcher; what is returned takes the page's calls of `Parley`. */
export async function mount(launch: Launch): Promise<Handle> {
  const texts = await launch.loadTexts(chooseLanguage(launch.attributes.language, [], "en"));
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  launch.shadow.adoptedStyleSheets = [...launch.shadow.adoptedStyleSheets, sheet];
  const root = document.createElement("div");
  root.className = "root";
  launch.frame.prepend(root);
  const widget = new Widget(launch, root, texts, () => render(<App widget={widget} />, root));
  void widget.begin();
  return (call) => widget.handle(call);
}
