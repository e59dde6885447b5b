import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, read } from "../../api/client";
import { useTexts } from "../../i18n/language";
import { Confirm, useSayFailure } from "../../parts/confirm";
import { sayDone } from "../../parts/notify";
import type { Person } from "./person";
import { ROLES, type Role, roles, texts } from "./texts";

const MOST_CHARACTERS = 200;

interface Props {
  person: Person;
  onClose: () => void;
}

export function EditPerson({ person, onClose }: Props) {
  const t = useTexts(texts);
  const roleNames = useTexts(roles);
  const sayFailure = useSayFailure();
  const [name, setName] = useState(person.name ?? "");
  const [role, setRole] = useState<Role>(ROLES.find((each) => each === person.role) ?? "unknown");
  const [department, setDepartment] = useState(person.department ?? "");
  const save = useMutation({
    mutationFn: () =>
      read(
        api.PATCH("/public/v1/speakers/{speaker_id}", {
          params: { path: { speaker_id: person.id } },
          body: { name, role, department },
        }),
      ),
    onSuccess: () => {
      sayDone(t.saved);
      onClose();
    },
    onError: sayFailure,
  });
  return (
    <Modal opened onClose={onClose} title={t.editTitle} centered closeButtonProps={{ "aria-label": t.close }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <TextInput
            label={t.name}
            value={name}
            maxLength={MOST_CHARACTERS}
            onChange={(event) => setName(event.target.value)}
            data-autofocus
          />
          <Select
            label={t.role}
            description={t.roleHint}
            value={role}
            allowDeselect={false}
            data={ROLES.map((each) => ({ value: each, label: roleNames[each] ?? each }))}
            onChange={(value) => setRole(ROLES.find((each) => each === value) ?? role)}
          />
          <TextInput
            label={t.department}
            value={department}
            maxLength={MOST_CHARACTERS}
            onChange={(event) => setDepartment(event.target.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Asks once more, since nothing of the person is left then. */
export function ForgetPerson({ person, onClose }: Props) {
  const t = useTexts(texts);
  const sayFailure = useSayFailure();
  const navigate = useNavigate();
  const forget = useMutation({
    mutationFn: () =>
      read(api.DELETE("/public/v1/speakers/{speaker_id}", { params: { path: { speaker_id: person.id } } })),
    onSuccess: () => {
      sayDone(t.forgotten);
      void navigate("/people");
    },
    onError: sayFailure,
  });
  return (
    <Confirm
      opened
      onClose={onClose}
      title={t.forgetTitle(person.name || person.external_id || t.noName)}
      action={t.forgetAction}
      pending={forget.isPending}
      onConfirm={() => forget.mutate()}
    >
      {t.forgetText}
    </Confirm>
  );
}
