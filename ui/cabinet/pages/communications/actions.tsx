import { ActionIcon, Button, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDotsVertical, IconDownload, IconRefresh, IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";
import { ApiError, api, read } from "../../api/client";
import { mayAct } from "../../app/session";
import { type Texts, useLanguage, useTexts } from "../../i18n/language";
import { Confirm } from "../../parts/confirm";
import { sayDone, sayFailed } from "../../parts/notify";
import { useFailureText } from "../../parts/states";
import { GONE } from "../../parts/unsaved";
import { type Details, isInWork } from "./kinds";

const texts: Texts<{
  download: string;
  formats: Record<"txt" | "pdf" | "srt" | "json", string>;
  recording: string;
  again: string;
  sureAgain: string;
  price: string;
  order: string;
  ordered: string;
  noMoney: string;
  busy: string;
  more: string;
  remove: string;
  sure: string;
  action: string;
  deleted: string;
  balance: string;
}> = {
  en: {
    download: "Download",
    formats: { txt: "Text (.txt)", pdf: "Document (.pdf)", srt: "Subtitles (.srt)", json: "Data (.json)" },
    recording: "Recording",
    again: "Analyse again",
    sureAgain: "Analyse this conversation again?",
    price:
      "Summary, quality and memory are made anew from the text as it is now. It costs as much as the first time; what was found before is replaced.",
    order: "Analyse",
    ordered: "The analysis is ordered",
    noMoney: "The balance does not cover it: top up on the page “Balance”.",
    busy: "It is being recognised or analysed just now.",
    more: "More actions",
    remove: "Delete…",
    sure: "Delete this communication?",
    action: "Delete",
    deleted:
      "The recording, text, files, analysis, corrections and what was learned from it will be gone. This cannot be taken back.",
    balance: "Balance",
  },
  ru: {
    download: "Скачать",
    formats: { txt: "Текст (.txt)", pdf: "Документ (.pdf)", srt: "Субтитры (.srt)", json: "Данные (.json)" },
    recording: "Запись",
    again: "Анализировать заново",
    sureAgain: "Проанализировать разговор заново?",
    price:
      "Резюме, качество и память будут сделаны заново по нынешнему тексту. Стоит столько же, сколько в первый раз; прежние результаты заменятся.",
    order: "Анализировать",
    ordered: "Анализ заказан",
    noMoney: "На балансе не хватает денег: пополните его на странице «Баланс».",
    busy: "Разговор сейчас распознаётся или анализируется.",
    more: "Ещё действия",
    remove: "Удалить…",
    sure: "Удалить коммуникацию?",
    action: "Удалить",
    deleted: "Исчезнут запись, текст, файлы, анализ, исправления и всё, что из неё запомнено. Вернуть это нельзя.",
    balance: "Баланс",
  },
};

/** What can be done with a communication: taken along, analysed again, deleted. */
export function Actions({ found }: { found: Details }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const said = useFailureText();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [asksAgain, again] = useDisclosure();
  const [asksDelete, removal] = useDisclosure();
  const path = { communication_id: found.id };
  const say = (error: unknown) => {
    if (error instanceof ApiError && error.code === "client_inactive") return sayFailed(t.noMoney);
    if (error instanceof ApiError && error.code === "in_work") return sayFailed(t.busy);
    sayFailed(said(error));
  };
  const order = useMutation({
    mutationFn: () =>
      read(api.POST("/public/v1/communications/{communication_id}/analysis", { params: { path }, body: {} })),
    onSuccess: () => {
      sayDone(t.ordered);
      again.close();
    },
    onError: (error) => {
      again.close();
      say(error);
    },
  });
  const remove = useMutation({
    mutationFn: () => read(api.DELETE("/public/v1/communications/{communication_id}", { params: { path } })),
    onSuccess: () => {
      queries.removeQueries({ queryKey: ["communication", found.id] });
      void navigate("/communications", { replace: true, state: GONE });
    },
    onError: say,
  });
  const formats = (["txt", "pdf", "srt", "json"] as const).filter(
    (each) => each !== "srt" || found.content?.some((item) => item.start_ms !== null),
  );
  return (
    <>
      <Menu position="bottom-end" shadow="md" width={200}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconDownload size={18} aria-hidden />}>
            {t.download}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {formats.map((each) => (
            <Menu.Item
              key={each}
              component="a"
              href={`/public/v1/communications/${found.id}/export?format=${each}&language=${language}`}
              download
            >
              {t.formats[each]}
            </Menu.Item>
          ))}
          {found.recording && (
            <Menu.Item
              component="a"
              href={`/public/v1/media/${found.id}`}
              download={found.recording.name ?? "recording"}
            >
              {t.recording}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {mayAct("operator") && (
        <Menu position="bottom-end" shadow="md" width={240}>
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label={t.more}>
              <IconDotsVertical size={18} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item
              leftSection={<IconRefresh size={16} aria-hidden />}
              disabled={isInWork(found) || !found.content?.length}
              onClick={again.open}
            >
              {t.again}
            </Menu.Item>
            <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={removal.open}>
              {t.remove}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      <Confirm
        opened={asksAgain}
        onClose={again.close}
        title={t.sureAgain}
        action={t.order}
        danger={false}
        pending={order.isPending}
        onConfirm={() => order.mutate()}
      >
        {t.price}{" "}
        <Text component={Link} to="/balance" td="underline" inherit>
          {t.balance}
        </Text>
      </Confirm>
      <Confirm
        opened={asksDelete}
        onClose={removal.close}
        title={t.sure}
        action={t.action}
        pending={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        {t.deleted}
      </Confirm>
    </>
  );
}
