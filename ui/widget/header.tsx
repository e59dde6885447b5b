import { Button } from "./button";
import { wordsIn } from "./texts";
import type { Widget } from "./widget";

export function Header({ widget }: { widget: Widget }) {
  const { config, conversation, texts, view } = widget;
  const { entries, person } = conversation.state;
  const title = config?.title || texts.chat;
  const is_chat = config && view === "chat";
  return (
    <header class="header">
      <div class="names">
        <h2 class="title" {...wordsIn(title)}>
          {title}
        </h2>
        <p class="subtitle">
          {person.taken_over ? (person.operator_name ?? texts.person_here(null)) : texts.assistant}
        </p>
      </div>
      {is_chat && <Button icon="person" label={texts.person} press={() => widget.show("contact")} />}
      {is_chat && entries.length > 0 && (
        <Button icon="again" label={texts.new_conversation} press={() => widget.startOver()} />
      )}
      <Button icon="close" label={texts.close} press={() => widget.close()} />
    </header>
  );
}
