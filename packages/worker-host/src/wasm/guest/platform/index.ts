/** The parts of every isolate's platform that QuickJS lacks. The order matters: later files take names of earlier ones. */
import "./text.ts";
import "./events.ts";
import "./url.ts";
import "./clone.ts";
import "./http.ts";
