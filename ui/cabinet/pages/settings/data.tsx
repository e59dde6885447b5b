import { mayAct } from "../../app/session";
import { useTexts } from "../../i18n/language";
import { Deletion } from "./data-deletion";
import { Exports } from "./data-export";
import { Retention } from "./data-retention";
import { texts } from "./data-texts";
import { SettingsPage } from "./frame";

/** How long data is kept, the archive of everything, and the account's deletion. */
export default function SettingsData() {
  const t = useTexts(texts);
  return (
    <SettingsPage title={t.title} lead={t.lead}>
      <Retention />
      {mayAct("owner") && <Exports />}
      {mayAct("owner") && <Deletion />}
    </SettingsPage>
  );
}
