import "./urls.shared.ts";
