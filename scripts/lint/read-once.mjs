// A rule for oxlint. A foreign value (see packages/kernel/src/support/foreign.ts) can be another thing at each look, so each is used once: two readings of one
// value do not compile into a check of the first and a use of the second.

/** Where the functions are that read a foreign value, `membersOf` and others: what they are given is one, however it is declared. */
const readers = /\/foreign(?:\.ts)?$/;

/** What is learnt without looking into it: its type, whether it is there, whether it is a list. What a test has shown to be a primitive has nothing in it. @param {any} identifier */
function isNoLook(identifier) {
  const { parent, name } = identifier;
  for (let child = identifier, node = parent; node; child = node, node = node.parent)
    if (
      (node.consequent === child && isPrimitiveTest(node.test, name)) ||
      (node.right === child && isPrimitiveTest(node.left, name))
    )
      return true;
  if (parent.type === "UnaryExpression") return parent.operator === "typeof" || parent.operator === "!";
  if (parent.type === "BinaryExpression") return /^(?:[!=]==|instanceof)$/.test(parent.operator);
  if (parent.type === "TSTypePredicate") return true;
  return parent.type === "CallExpression" && parent.callee.property?.name === "isArray";
}

/** Such as `typeof foreign === "string"`, and whatever else. A function is called, not read. @param {any} test @param {string} name @returns {boolean} */
function isPrimitiveTest({ type, operator, left, right }, name) {
  if (type === "LogicalExpression")
    return operator === "&&" && (isPrimitiveTest(left, name) || isPrimitiveTest(right, name));
  if (type !== "BinaryExpression" || operator !== "===" || left.operator !== "typeof") return false;
  return left.argument.name === name && /^(?:string|number|bigint|boolean|function)$/.test(right.value);
}

/** @param {any} variable @param {Set<string>} imported the names of readers here */
function isForeign({ name, references }, imported) {
  if (name === "foreign") return true;
  return references.some(
    (/** @type {any} */ { identifier: { parent }, identifier }) =>
      parent.type === "CallExpression" && parent.arguments[0] === identifier && imported.has(parent.callee.name),
  );
}

const readOnce = {
  /** @param {any} context */
  create(context) {
    /** @type {Set<string>} */
    const imported = new Set();
    return {
      /** @param {any} declaration */
      ImportDeclaration({ source, specifiers }) {
        if (readers.test(source.value))
          for (const { local } of specifiers) if (local.name.endsWith("Of")) imported.add(local.name);
      },
      "Program:exit"() {
        for (const { variables } of context.sourceCode.scopeManager.scopes)
          for (const variable of variables) {
            if (!isForeign(variable, imported)) continue;
            const looks = variable.references.filter(
              (/** @type {any} */ each) => each.isRead() && !isNoLook(each.identifier),
            );
            for (const { identifier } of looks.slice(1))
              context.report({
                node: identifier,
                message: `\`${variable.name}\` is foreign and used a second time. Read it once, and use what you read.`,
              });
          }
      },
    };
  },
};

export default { meta: { name: "keyhole" }, rules: { "read-once": readOnce } };
