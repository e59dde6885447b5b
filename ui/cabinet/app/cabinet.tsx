import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { MutationCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { setNonce } from "get-nonce";
import { lazy, Suspense } from "react";
import { RouterProvider } from "react-router/dom";
import { ApiError } from "../api/client";
import { LanguageProvider } from "../i18n/language";
import { router } from "./routes";
import { styleNonce } from "./session";
import { useSessionOver } from "./session-end";
import { theme, variables } from "./theme";

// The styles with which windows keep the page behind them still.
setNonce(styleNonce());

const SessionOver = lazy(() => import("./session-over"));

const MOST_TRIES = 2;

const queries: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // What was refused will be refused again; what failed may work the next time.
      retry: (tries, error) => tries < MOST_TRIES && !(error instanceof ApiError && error.status < 500),
    },
  },
  mutationCache: new MutationCache({
    // Most of what somebody changes shows in more than one place.
    onSuccess: () => queries.invalidateQueries(),
  }),
});

export function Cabinet() {
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
      cssVariablesResolver={variables}
    >
      <LanguageProvider>
        <QueryClientProvider client={queries}>
          <Notifications position="bottom-right" />
          <RouterProvider router={router} />
          <SessionEnd />
        </QueryClientProvider>
      </LanguageProvider>
    </MantineProvider>
  );
}

function SessionEnd() {
  return useSessionOver() ? (
    <Suspense>
      <SessionOver />
    </Suspense>
  ) : null;
}
