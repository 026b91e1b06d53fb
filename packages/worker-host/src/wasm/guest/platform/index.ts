/** What QuickJS lacks of the platform that every isolate gives a tool. The order matters: later files take names of earlier ones. */
import "./text.ts";
import "./events.ts";
import "./url.ts";
import "./clone.ts";
import "./http.ts";
