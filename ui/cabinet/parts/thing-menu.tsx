import { ActionIcon, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots, IconPencil, IconTrash } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useNavigate } from "react-router";
import { Confirm, useSayFailure } from "./confirm";
import { GONE } from "./unsaved";

interface ThingMenuProps {
  words: { more: string; edit: string; remove: string; removeTitle: string };
  /** What will be gone, asked before it is removed. */
  question: string;
  remove: () => Promise<unknown>;
  /** Where to go once it is gone. */
  then: string;
  /** The form that changes it. */
  form: (opened: boolean, close: () => void) => ReactNode;
}

/** What can be done with the thing that a page is about: change it by its form, or remove it after a question. */
export function ThingMenu({ words, question, remove, then, form }: ThingMenuProps) {
  const go = useNavigate();
  const [editing, edit] = useDisclosure();
  const [removing, ask] = useDisclosure();
  const removal = useMutation({
    mutationFn: remove,
    onSuccess: () => void go(then, { state: GONE }),
    onError: useSayFailure(),
  });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={words.more}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={edit.open}>
            {words.edit}
          </Menu.Item>
          <Menu.Item leftSection={<IconTrash size={16} />} color="red" onClick={ask.open}>
            {words.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {form(editing, edit.close)}
      <Confirm
        opened={removing}
        onClose={ask.close}
        title={words.removeTitle}
        action={words.remove}
        pending={removal.isPending}
        onConfirm={() => removal.mutate()}
      >
        {question}
      </Confirm>
    </>
  );
}
