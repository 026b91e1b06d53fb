import { createRoot } from "react-dom/client";
import { App } from "./App.tsx";

createRoot(document.querySelector("#root")!).render(<App />);
