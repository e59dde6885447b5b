import { Button, Group, NumberInput, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, read } from "../../api/client";
import { useFormat, useTexts } from "../../i18n/language";
import { useFailureText } from "../../parts/states";
import { rememberPayment } from "./pending";
import { texts } from "./texts";

const LEAST = 100;
const MOST = 100_000;
const OFFERED = [1000, 5000, 20_000];

/** Leads to the payment provider, and back to this page. */
export function TopUp() {
  const t = useTexts(texts);
  const said = useFailureText();
  const { money } = useFormat();
  const [amount, setAmount] = useState<number | string>("");
  // The field gives text for what ends in zeros, such as 1234.50.
  const roubles = Number(String(amount).replace(/\s/g, "").replace(",", "."));
  const fits = amount !== "" && roubles >= LEAST && roubles <= MOST;
  const begin = useMutation({
    mutationFn: (amount_rub: number) => {
      // To where this page was opened at: the server's public address may be another, at which nobody is signed in.
      const back = `${window.location.origin}/cabinet/balance?payment=`;
      return read(
        api.POST("/public/v1/payment-link", {
          body: { amount_rub, redirect_url: `${back}paid`, fail_redirect_url: `${back}failed` },
        }),
      );
    },
    onSuccess: ({ id, payment_url }) => {
      rememberPayment(id);
      if (payment_url) window.location.assign(payment_url);
    },
  });
  const isBusy = begin.isPending || begin.isSuccess;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (fits) begin.mutate(roubles);
      }}
    >
      <Stack gap="sm">
        <Group gap="xs">
          {OFFERED.map((each) => (
            <Button key={each} variant="default" size="xs" onClick={() => setAmount(each)}>
              {money(each).replace(/[.,]00(?=\D*$)/, "")}
            </Button>
          ))}
        </Group>
        <Group align="flex-start" gap="sm">
          <NumberInput
            label={t.amount}
            description={t.amountHint}
            inputWrapperOrder={["label", "input", "description", "error"]}
            value={amount}
            onChange={setAmount}
            decimalScale={2}
            thousandSeparator=" "
            decimalSeparator=","
            allowedDecimalSeparators={[",", "."]}
            hideControls
            allowNegative={false}
            error={amount !== "" && !fits && t.amountWrong}
            flex="1 1 10rem"
            required
          />
          <Button type="submit" mt={25} disabled={!fits} loading={isBusy}>
            {t.pay}
          </Button>
        </Group>
        {begin.isError && (
          <Text c="red" size="sm" role="alert">
            {begin.error instanceof ApiError && begin.error.status === 502 ? t.providerFailed : said(begin.error)}
          </Text>
        )}
      </Stack>
    </form>
  );
}
