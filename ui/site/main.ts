import { ChatClient } from "../chat/client";
import { byId, element } from "../chat/dom";
import { Session } from "../chat/session";
import { showConnect } from "./connect";
import { Conversation } from "./conversation";
import { failureNotice } from "./notice";
import { LANGUAGE, texts } from "./texts";

/** Opens the chat that the server named in the page. */
async function openChat(client: ChatClient, conversation: Conversation): Promise<void> {
  const chat = byId("chat", HTMLElement);
  const title = byId("title", HTMLElement);
  const greeting = byId("greeting", HTMLElement);
  chat.dataset.state = "loading";
  greeting.replaceChildren();
  try {
    const config = await client.config();
    await conversation.open(config);
  } catch (error) {
    chat.dataset.state = "closed";
    title.textContent = texts.cannot_open_title;
    greeting.replaceChildren(failureNotice(error, () => void openChat(client, conversation)));
  }
  chat.removeAttribute("aria-busy");
}

function showNoChat(): void {
  const chat = byId("chat", HTMLElement);
  const [before, after] = texts.no_chat;
  chat.dataset.state = "closed";
  chat.removeAttribute("aria-busy");
  byId("title", HTMLElement).textContent = texts.no_chat_title;
  const command = element("code", {}, "parley demo");
  byId("greeting", HTMLElement).append(element("p", {}, `${before} `, command, ` ${after}`));
}

document.documentElement.lang = LANGUAGE;
byId("tagline", HTMLElement).textContent = texts.tagline;
showConnect();
const key = document.querySelector<HTMLMetaElement>('meta[name="parley-widget-key"]')?.content ?? "";
if (key) {
  const session = new Session(key);
  const client = new ChatClient(key, session);
  void openChat(client, new Conversation(client, session));
} else {
  showNoChat();
}
