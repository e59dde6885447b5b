import type { ComponentType } from "react";
import { createBrowserRouter, type RouteObject } from "react-router";
import { NotFoundPage } from "../parts/not-found";
import { RouteFailure } from "../parts/route-failure";
import { Shell } from "./shell";

/** A page that is loaded when somebody goes there. */
const page = (path: string, load: () => Promise<{ default: ComponentType }>): RouteObject => ({
  path,
  lazy: async () => ({ Component: (await load()).default }),
});

export const router = createBrowserRouter(
  [
    {
      element: <Shell />,
      hydrateFallbackElement: <span />,
      children: [
        {
          errorElement: <RouteFailure />,
          children: [
            page("/", () => import("../pages/overview/overview")),
            page("/ask", () => import("../pages/ask/ask")),
            page("/communications", () => import("../pages/communications/list")),
            page("/communications/:id", () => import("../pages/communications/communication")),
            page("/people", () => import("../pages/people/list")),
            page("/people/:id", () => import("../pages/people/person")),
            page("/promises", () => import("../pages/promises/promises")),
            page("/quality", () => import("../pages/quality/quality")),
            page("/quality/scenarios", () => import("../pages/quality/scenarios")),
            page("/knowledge", () => import("../pages/knowledge/spaces")),
            page("/knowledge/:id", () => import("../pages/knowledge/space")),
            page("/documents/:id", () => import("../pages/knowledge/document")),
            page("/chats", () => import("../pages/chats/list")),
            page("/chats/:id", () => import("../pages/chats/chat")),
            page("/conversations", () => import("../pages/conversations/list")),
            page("/conversations/:id", () => import("../pages/conversations/conversation")),
            page("/cameras", () => import("../pages/cameras/list")),
            page("/cameras/:id", () => import("../pages/cameras/camera")),
            page("/upload", () => import("../pages/upload/upload")),
            page("/connect", () => import("../pages/connect/connect")),
            page("/balance", () => import("../pages/balance/balance")),
            page("/settings", () => import("../pages/settings/settings")),
            page("/settings/keys", () => import("../pages/settings/keys")),
            page("/settings/webhooks", () => import("../pages/settings/webhooks")),
            page("/settings/people", () => import("../pages/settings/operators")),
            page("/settings/audit", () => import("../pages/settings/audit")),
            page("/settings/data", () => import("../pages/settings/data")),
            { path: "*", element: <NotFoundPage /> },
          ],
        },
      ],
    },
  ],
  { basename: "/cabinet" },
);
