import { notifications } from "@mantine/notifications";

const closeButtonProps = () => ({ "aria-label": document.documentElement.lang === "ru" ? "Закрыть" : "Close" });

/** Says shortly that something was done. */
export const sayDone = (message: string) =>
  notifications.show({ message, color: "green", autoClose: 4000, closeButtonProps: closeButtonProps() });

/** Says what went wrong, until somebody closes it. */
export const sayFailed = (message: string) =>
  notifications.show({ message, color: "red", autoClose: 10_000, closeButtonProps: closeButtonProps() });
