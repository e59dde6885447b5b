import { Alert, Loader } from "@mantine/core";
import { IconCircleCheck, IconCircleX } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useSearchParams } from "react-router";
import { api, read } from "../../api/client";
import { useFormat, useTexts } from "../../i18n/language";
import { rememberedPayment } from "./pending";
import { texts } from "./texts";

const EVERY_MS = 3000;

/** How the payment ended that somebody comes back from. The server's word counts, not the address. */
export function Payment() {
  const t = useTexts(texts);
  const { money } = useFormat();
  const [search, setSearch] = useSearchParams();
  const queries = useQueryClient();
  const named = search.get("payment") ?? "";
  const id = /^[0-9a-f-]{36}$/.test(named) ? named : rememberedPayment();
  const query = useQuery({
    queryKey: ["payment", id],
    enabled: id !== null,
    queryFn: () =>
      read(api.GET("/public/v1/payment-link/{payment_link_id}", { params: { path: { payment_link_id: id ?? "" } } })),
    refetchInterval: ({ state }) => (state.data?.status === "pending" ? EVERY_MS : false),
  });
  const status = query.data?.status;
  useEffect(() => {
    if (status === "paid") void queries.invalidateQueries({ queryKey: ["balance"] });
  }, [status, queries]);
  if (!query.data) return null;
  const close = () => setSearch({}, { replace: true });
  if (status === "pending") {
    return (
      <Alert role="status" variant="light" color="yellow" icon={<Loader size="xs" />} title={t.waiting}>
        {t.waitingText}
      </Alert>
    );
  }
  const isPaid = status === "paid";
  const amount = money(query.data.amount_rub);
  return (
    <Alert
      role="status"
      variant="light"
      color={isPaid ? "green" : "red"}
      icon={isPaid ? <IconCircleCheck /> : <IconCircleX />}
      title={isPaid ? t.paid(amount) : t.notPaid}
      withCloseButton
      closeButtonLabel={t.close}
      onClose={close}
    >
      {isPaid ? t.paidText : t.notPaidText}
    </Alert>
  );
}
