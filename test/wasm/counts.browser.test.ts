import "./counts.shared.ts";
