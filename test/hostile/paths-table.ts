/** Paths that must name nothing: neither inside the root nor outside. `ROOT` stands for an absolute path outside the root. */
const outside = ["secret.txt", "etc/passwd", "a"];
const climbs = ["..", "../..", "../../../../../../..", "a/..", "a/../..", "./..", ".", "./a", "a/.", "a/./b", "a//..", "a/b/../../.."];
const encodedDots = ["%2e%2e", "%2E%2E", "%2e.", ".%2e", "%252e%252e", "%c0%ae%c0%ae", "%uff0e%uff0e", "..%00", "..%2f", "%2e%2e%2f", "..%5c", "%2e%2e%5c", "..%c0%af", "..%ef%bc%8f"];
const separators = ["..\\", "..\\..\\", "a\\..\\", "\\", "\\\\server\\share\\", "\\\\?\\C:\\", "\\\\.\\pipe\\", "/", "//", "///", "/./", "/../", "/proc/self/root/", "/dev/fd/0/", "~\\"];
const drives = ["C:", "C:/", "c:\\", "C:..", "file:", "file:///", "http://example.com/", "a:b/", "a::$DATA/", ":", "nul:/", "Z:/a/"];
const controls = ["\0", "a\0", "a\0.txt/", "\n", "a\r\n", "\t", "\u001b[2J", "\u007f", "\u0080", "\u009f", "\u2028", "\u2029", "\u202e", "\u200e", "\u2066", "\ufeff"];
const spellings = ["e\u0301", "\u0041\u030a", "\u1100\u1161", "\u212b", "\u2126", "\ufb1d", "\ud800", "a\udc00", "\udfff\ud800"];
const windows = ["con", "CON", "prn.txt", "aux", "nul", "NUL.tar.gz", "com1", "COM9.x", "lpt1", "lpt³", "conin$", "a.", "a ", " a", "a..", "...", "a. ."];
const lengths = ["a".repeat(256), "é".repeat(128), "文".repeat(86), "a/".repeat(513), `${"a".repeat(250)}/`.repeat(4) + "a".repeat(21), "a".repeat(100_000), "../".repeat(1_000)];

const places = (prefix: string): readonly string[] => [prefix, ...outside.map((name) => (/[/\\:]$/.test(prefix) ? `${prefix}${name}` : `${prefix}/${name}`))];

export const hostilePaths: Readonly<Record<string, readonly string[]>> = {
  "climb out": climbs.flatMap(places),
  "climb out, encoded": encodedDots.flatMap(places),
  "use another separator, or start at a root": separators.flatMap(places),
  "name a drive, a scheme or a stream": drives.flatMap(places),
  "hide characters": controls.flatMap((text) => [text, `${text}/a`, `a/${text}`, `a/${text}/b`]),
  "spell a name in another way": spellings.flatMap((text) => [text, `a/${text}`, `${text}/a`]),
  "name what only Windows has": windows.flatMap((text) => [text, `a/${text}`, `${text}/a`]),
  "are too long": lengths,
  "have empty segments": ["", "/", "//", "a/", "a//", "a//b", "/a", "//a", "a/b/"],
  "name an absolute path": ["ROOT/secret.txt", "ROOT", "/ROOT/secret.txt", "file://ROOT/secret.txt", "../ROOT/secret.txt"],
};
