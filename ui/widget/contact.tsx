import { Button } from "./button";
import { CallError, type Contact } from "./client";
import { failureOf } from "./failures";
import { focusOnce } from "./focus";
import { filledIn } from "./forms";
import type { Texts } from "./texts";
import type { Widget } from "./widget";

/** How the form stands: what is wrong with it, and in which fields. */
export interface FormState {
  problem?: string;
  wrong?: string;
  is_sending?: boolean;
}

/** Asks for a person, and for a way to reach the visitor. Left empty, it only calls the person. */
export function ContactForm({ widget }: { widget: Widget }) {
  const { conversation, texts } = widget;
  const { problem, wrong, is_sending } = widget.form;
  const submit = async (event: SubmitEvent) => {
    const contact: Contact = filledIn(event);
    const [wrong = "", problem = ""] = mistakeIn(contact, texts);
    widget.setForm({ wrong, problem, is_sending: !wrong });
    if (wrong) return;
    try {
      await conversation.askForPerson(contact);
      widget.show("chat");
    } catch (error) {
      const is_refused = error instanceof CallError && (error.status === 400 || error.status === 422);
      widget.setForm({ problem: is_refused ? texts.not_sent : texts.failures[failureOf(error).reason] });
    }
  };
  const field = (
    name: "name" | "email" | "phone",
    inputmode: "text" | "email" | "tel",
    autocomplete: "name" | "email" | "tel",
  ) => (
    <label class="field">
      {texts[name]}
      <input
        name={name}
        inputmode={inputmode}
        autocomplete={autocomplete}
        maxLength={name === "phone" ? 40 : 200}
        dir="auto"
        aria-invalid={!!wrong?.includes(name)}
        aria-describedby="problem"
      />
    </label>
  );
  return (
    <form class="contact" noValidate onSubmit={submit}>
      <h3 tabIndex={-1} ref={focusOnce}>
        {texts.person}
      </h3>
      <p class="lead">{texts.contact_lead}</p>
      {field("name", "text", "name")}
      {field("email", "email", "email")}
      {field("phone", "tel", "tel")}
      <label class="field">
        {texts.message}
        <textarea name="message" rows={3} maxLength={2000} dir="auto" />
      </label>
      <p class="problem" id="problem" role="alert">
        {problem}
      </p>
      <Button type="submit" class="primary" disabled={is_sending}>
        {texts.contact_send}
      </Button>
      <Button class="plain" press={() => widget.show("chat")}>
        {texts.contact_back}
      </Button>
    </form>
  );
}

/** The fields that are not filled in well, and what to say of them. */
function mistakeIn(contact: Contact, texts: Texts): [string, string] | [] {
  const { email, phone } = contact;
  if (email && !/^\S+@\S+\.\S+$/.test(email)) return ["email", texts.contact_email_wrong];
  if (phone && !/^[-+()\d\s.]+$/.test(phone)) return ["phone", texts.contact_phone_wrong];
  return email || phone || !Object.keys(contact)[0] ? [] : ["email phone", texts.contact_missing];
}
