/** UTF-16 units of one argument. */
const maxLength = 32_768;

const commandName = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}$/;

/** The fault of a command's name, as the end of a sentence. */
export function checkCommand(command: string): string | undefined {
  return commandName.test(command)
    ? undefined
    : "a command is a name of 1 to 64 letters, digits, `_`, `.`, `+` or `-`, never a path or a command line";
}

/** The fault of an argument, for every command, as the end of a sentence. */
export function checkArgument(argument: string): string | undefined {
  if (argument.length > maxLength) return `an argument has at most ${maxLength} characters`;
  if (!argument.isWellFormed()) return "an argument is well-formed Unicode";
  // Texts have lines and tabs; nothing else below space has a meaning that a person would see.
  return /[\u0000-\u0008\u000b-\u001f\u007f]/.test(argument) ? "an argument has no control characters" : undefined;
}
