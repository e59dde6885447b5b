import { Stack, TagsInput, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { useTexts } from "../../i18n/language";
import { Card } from "../../parts/card";
import type { Scenarios } from "./draft";
import { texts } from "./editor-texts";

type Company = Scenarios["company"];

/** What the company calls itself, and what its people may and must say. */
export function CompanyCard({ company, onChange }: { company: Company; onChange: (company: Company) => void }) {
  const t = useTexts(texts);
  const [typed, setTyped] = useState(company.notices.join("\n"));
  const said = (text: string) => text.split("\n").map((line) => line.trim());
  const shown =
    said(typed).filter(Boolean).join("\n") === company.notices.join("\n") ? typed : company.notices.join("\n");
  return (
    <Card title={t.company} mt="md">
      <Stack gap="sm">
        <Text size="sm" c="var(--soft)">
          {t.companyText}
        </Text>
        <TagsInput
          label={t.names}
          placeholder={t.enter}
          value={company.names}
          maxTags={50}
          onChange={(names) => onChange({ ...company, names })}
        />
        <TagsInput
          label={t.contacts}
          description={t.contactsText}
          placeholder={t.enter}
          value={company.contacts}
          maxTags={200}
          onChange={(contacts) => onChange({ ...company, contacts })}
        />
        <Textarea
          label={t.notices}
          description={t.noticesText}
          autosize
          minRows={2}
          value={shown}
          onChange={(event) => {
            setTyped(event.target.value);
            onChange({ ...company, notices: said(event.target.value).filter(Boolean) });
          }}
        />
      </Stack>
    </Card>
  );
}
