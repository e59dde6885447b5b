import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/dropzone/styles.css";
import "./app/base.css";
import { createRoot } from "react-dom/client";
import { Cabinet } from "./app/cabinet";

const place = document.getElementById("cabinet");
if (place) createRoot(place).render(<Cabinet />);
