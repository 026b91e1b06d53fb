/**
 * What some server does behind a plain path: routes of products, without an end by nature. No deny by path knows them, and docs/policy.md says so. An allow-list need
 * not know them. The list only shrinks: `plain-paths.test.ts` fails for a row that a deny meets.
 */
export const behindPlainPaths: Readonly<Record<string, readonly (readonly [deny: string, path: string])[]>> = {
  "a script that receives the rest of the path": [
    ["/admin", "/index.php/admin"],
    ["/admin", "/index.php/admin/users"],
    ["/users", "/index.php/users"],
    ["/admin", "/api.jsp/admin"],
    ["/admin", "/app.php/admin"],
    // As `URL` sends `/app/index.php/../admin` and `/a.b/x/../users/1`.
    ["/admin", "/app/admin"],
    ["/users", "/a.b/users/1"],
    ...["/admin", "/admin/users", "/public/admin", "/index.php/admin", "/ADMIN.json"].map(
      (path) => ["/public/index.php/admin", path] as const,
    ),
    ["/users", "/app.wsgi/users"],
    ["/users", "/index.html/users"],
    ..."do rb exe dll php56 shtml svc asmx".split(" ").map((ending) => ["/users", `/x.${ending}/users`] as const),
    ["/users", "/a.b/c.b/d.b/e.b/f.b/g.b/h.b/i.b/j.b/k.b"],
    ["/admin/delete", "/admin/x.php/delete"],
    ["/admin/delete", "/x.y/admin.z/delete!go"],
    ["/secret.html", "/x.cgi/secret"],
    ["/admin.php/delete", "/admin/delete"],
    ["/docs/index.html", "/x.php/docs/"],
  ],
  "a session in brackets": [
    ["/users", "/(S(abc))/users"],
    ["/users", "/(F(x))/(S(y))/users"],
    ["/docs/internal", "/(S(abc123))/docs/internal"],
    ["/users", "/(S(x)F(y))/users"],
    ["/users", "/us/(S(x))ers"],
    ["/users", "/us%2f(S(x))ers"],
  ],
  "a file without its ending": [
    ["/secret.html", "/secret"],
    ["/secret.html", "/secret/"],
    ["/reports/q1.pdf", "/reports/q1"],
    ["/secret.html", "/secret!go.html"],
    ["/backup.tar.gz", "/backup.tar"],
    ["/backup.tar.gz", "/backup"],
    ["/docs/index.html", "/docs/index"],
    ["/index.html", "/index"],
  ],
  "the index of a folder": [
    ["/docs/index.html", "/docs/"],
    ["/docs/index.html", "/docs"],
    ["/app/index.php", "/app/"],
    ["/index.html", "/"],
  ],
  "a number in another spelling, or with letters behind it": [
    "42-ada",
    "42a",
    "42_0",
    "42n",
    "42-",
    "042-x",
    "+42x",
    "0x2ag",
    "420e-1x",
    "%EF%BC%94%EF%BC%92-x",
    "042",
    "0x2a",
    "0o52",
    "0b101010",
    "42e0",
    "4200E-2",
    "0.42e2",
    "%D9%A4%D9%A2",
    "0042",
    "+042",
    "0x2A",
  ]
    .flatMap((name) =>
      ["", "/orders"].map((rest): readonly [string, string] => ["/api/users/42", `/api/users/${name}${rest}`]),
    )
    .concat([["/users/7", "/users/7-x"]]),
  "a key in brackets": ["(42)", "(id=42)", "('42')", "(042)", "(42-x)"]
    .flatMap((key) =>
      ["", "/orders"].map((rest): readonly [string, string] => ["/api/users/42", `/api/users${key}${rest}`]),
    )
    .concat([
      ["/users/7", "/users(7)"],
      ["/api/users(42)/orders", "/api/users/42/orders"],
      ["/api/users(42)/orders", "/api/users('42')/orders/1"],
    ]),
};

type TextRow = readonly [condition: Readonly<Record<string, string>>, text: string];

const fragments = ["#", "#x", "#/..", "#/public.json", "#?", "#\n", "#%2e%2e/"];
const bases = [
  "https://h.example/admin",
  "https://h.example/x/../admin",
  "HTTPS://u@h.example/%61dmin",
  "notes://h/admin",
  "/admin",
  "/x/../admin",
  "./admin",
];
const parts: Readonly<Record<string, readonly string[]>> = {
  "notes://diary/": [
    "no\ttes://diary/1",
    "notes:/\n/diary/1",
    "notes://dia\r\nry/1",
    "notes://diary:/1",
    "notes://me@diary/1",
    "notes://%64iary/1",
  ],
  "notes://a/diary/": ["notes://a/b/%2e./diary/1"],
  "notes:diary": ["notes:%64iary"],
  "file:///home/me/.ssh/": [
    "file:///home/me/%2essh/id",
    "file:///home/me/x%252f..%252f.ssh/id",
    "file:\\\\\\home\\me\\.ssh\\id",
  ],
  "https://a.example/admin": [
    "https://a.example:443/admin/x",
    "https:a.example./x/../%61dmin",
    "https://user:pass@a.example/admin",
  ],
  "https://A.example:443/admin": ["https://a.example/admin/x"],
  "/etc/passwd": ["/etc/pas\tswd"],
  "C:\\Users\\me\\": ["c:/Windows/../users/me/x"],
};

/** What programs do behind the letters of a text: a rule that names a place names all of it, with `equals`, `startsWith`, `hostIn` or `pathIn`. */
export const behindPlainTexts: Readonly<Record<string, readonly TextRow[]>> = {
  "the end of a place": [
    ...bases.flatMap((base) => fragments.map((fragment): TextRow => [{ endsWith: "admin" }, base + fragment])),
    [{ endsWith: ".exe" }, "https://h.example/a.exe%00.txt"],
  ],
  "a part of a place": Object.entries(parts).flatMap(([contains, texts]) =>
    texts.map((text): TextRow => [{ contains }, text]),
  ),
  "a name without a slash": fragments.flatMap((fragment): readonly TextRow[] => [
    [{ equals: "admin" }, `./admin${fragment}`],
    [{ startsWith: "admin" }, `./admin${fragment}`],
  ]),
  "a URL without //": [[{ startsWith: "notes:diary" }, "notes:%64iary"]],
};
