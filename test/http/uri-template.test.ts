import { expect, it } from "vitest";
import { expandTemplate, parseTemplate, type Variable } from "../../packages/worker-host/src/http/uri-template.ts";

/** RFC 6570, 1.2 and 3.2: every example of levels 1 to 3, and lists of level 4 without modifiers. */
const values = new Map<string, Variable>(
  Object.entries({
    var: "value",
    hello: "Hello World!",
    path: "/foo/bar",
    empty: "",
    x: "1024",
    y: "768",
    base: "http://example.com/home/",
    half: "50%",
    who: "fred",
    v: "6",
    dub: "me/too",
    list: ["red", "green", "blue"],
    none: [],
  }),
);

const examples: readonly (readonly [template: string, expanded: string])[] = [
  // Level 1
  ["{var}", "value"],
  ["{hello}", "Hello%20World%21"],
  // Level 2
  ["{+var}", "value"],
  ["{+hello}", "Hello%20World!"],
  ["{+path}/here", "/foo/bar/here"],
  ["here?ref={+path}", "here?ref=/foo/bar"],
  ["X{#var}", "X#value"],
  ["X{#hello}", "X#Hello%20World!"],
  // Level 3
  ["map?{x,y}", "map?1024,768"],
  ["{x,hello,y}", "1024,Hello%20World%21,768"],
  ["{+x,hello,y}", "1024,Hello%20World!,768"],
  ["{+path,x}/here", "/foo/bar,1024/here"],
  ["{#x,hello,y}", "#1024,Hello%20World!,768"],
  ["{#path,x}/here", "#/foo/bar,1024/here"],
  ["X{.var}", "X.value"],
  ["X{.x,y}", "X.1024.768"],
  ["{/var}", "/value"],
  ["{/var,x}/here", "/value/1024/here"],
  ["{;x,y}", ";x=1024;y=768"],
  ["{;x,y,empty}", ";x=1024;y=768;empty"],
  ["{?x,y}", "?x=1024&y=768"],
  ["{?x,y,empty}", "?x=1024&y=768&empty="],
  ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
  ["{&x,y,empty}", "&x=1024&y=768&empty="],
  // Section 3.2
  ["O{empty}X", "OX"],
  ["O{undef}X", "OX"],
  ["{half}", "50%25"],
  ["{?x,y,undef}", "?x=1024&y=768"],
  ["{+half}", "50%25"],
  ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
  ["{+base}index", "http://example.com/home/index"],
  ["O{+empty}X", "OX"],
  ["up{+path}{var}/here", "up/foo/barvalue/here"],
  ["{#half}", "#50%25"],
  ["foo{#empty}", "foo#"],
  ["foo{#undef}", "foo"],
  ["{.who,who}", ".fred.fred"],
  ["{.half,who}", ".50%25.fred"],
  ["X{.empty}", "X."],
  ["{/half,who}", "/50%25/fred"],
  ["{/who,dub}", "/fred/me%2Ftoo"],
  ["{/var,empty}", "/value/"],
  ["{/var,undef}", "/value"],
  ["{;who}", ";who=fred"],
  ["{;half}", ";half=50%25"],
  ["{;v,empty,who}", ";v=6;empty;who=fred"],
  ["{;v,undef,who}", ";v=6;who=fred"],
  ["{?who}", "?who=fred"],
  ["{&half}", "&half=50%25"],
  ["{list}", "red,green,blue"],
  ["{+list}", "red,green,blue"],
  ["X{.list}", "X.red,green,blue"],
  ["{/list}", "/red,green,blue"],
  ["{;list}", ";list=red,green,blue"],
  ["{?list}", "?list=red,green,blue"],
  ["X{.none}", "X"],
  ["{?none}", ""],
];

it.each(examples)("%s is %s", (template, expanded) => {
  const parsed = parseTemplate(template);
  expect(parsed.ok && expandTemplate(parsed.parts, (name) => values.get(name))).toBe(expanded);
});

it.each([
  "{/id*",
  "/id*}",
  "{",
  "}",
  "{}",
  "{/?id}",
  "{var:3}",
  "{list*}",
  "{hello:2*}",
  "{??hello}",
  "{!hello}",
  "{=path}",
  "{$var}",
  "{|var*}",
  "{keys?}",
  "{?empty=default,var}",
  "{-prefix|/-/|var}",
  "{with space}",
  "{ leading}",
  "{a,}",
  "{a{b}}",
  "{a..b}",
  "{.}",
])("%s is refused", (template) => {
  expect(parseTemplate(template)).toMatchObject({ ok: false });
});
