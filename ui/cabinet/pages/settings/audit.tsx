import { Tabs } from "@mantine/core";
import { useSearchParams } from "react-router";
import { useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import { Actions } from "./audit-actions";
import { texts } from "./audit-texts";
import { ToolCalls } from "./audit-tools";
import { SettingsPage } from "./frame";

/** What people and programs did here, and what agents asked for. */
export default function SettingsAudit() {
  const t = useTexts(texts);
  const [search, setSearch] = useSearchParams();
  const shown = search.get("of") === "tools" ? "tools" : "actions";
  return (
    <SettingsPage title={t.title} lead={t.lead}>
      <Tabs
        value={shown}
        keepMounted={false}
        onChange={(value) => setSearch(value === "tools" ? { of: "tools" } : {}, { replace: true })}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="actions">{t.actions}</Tabs.Tab>
          <Tabs.Tab value="tools">{t.tools}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="actions">
          <Card>
            <Actions />
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="tools">
          <Card>
            <ToolCalls />
          </Card>
        </Tabs.Panel>
      </Tabs>
    </SettingsPage>
  );
}
