import { type ComponentType, memo, type ReactNode, useCallback, useLayoutEffect, useState } from "react";
import type { AnyFieldProps } from "./context.ts";
import type { Member } from "./schema.ts";
import { type Draft, memberOf, pointerTo, withMember } from "./value.ts";

interface MembersProps extends Pick<AnyFieldProps, "path" | "value" | "onChange" | "depth"> {
  readonly members: readonly Member[];
  /** Given, not imported: an object is itself a field. */
  readonly renderValue: ComponentType<AnyFieldProps>;
}

/** With no more optional members than these, all of them stay in sight. */
const mostUnfolded = 3;

/** Required members first; many optional ones start folded. */
export function Members({ members, ...rest }: MembersProps): ReactNode {
  const { value, onChange } = rest;
  const [latest] = useState(() => new Latest(value, onChange));
  useLayoutEffect(() => latest.set(value, onChange), [latest, value, onChange]);
  const required = members.filter((member) => member.required);
  const optional = members.filter((member) => !member.required);
  const isFolded = required.length > 0 && optional.length > mostUnfolded;
  const fields = (some: readonly Member[]): ReactNode =>
    some.map(({ name, schema, required: isRequired }) => (
      <MemberField
        key={name}
        name={name}
        schema={schema}
        required={isRequired}
        path={pointerTo(rest.path, name)}
        value={memberOf(value, name)}
        depth={rest.depth + 1}
        onMember={latest.onMember}
        renderValue={rest.renderValue}
      />
    ));
  if (!isFolded) return fields(members);
  return (
    <>
      {fields(required)}
      <Folded members={optional} path={rest.path} value={value}>
        {() => fields(optional)}
      </Folded>
    </>
  );
}

type OnMember = (name: string, member: Draft) => void;

/** Its function stays the same for as long as the form stands: React does not draw an unchanged field again. */
class Latest {
  #value: Draft;
  #onChange: (value: Draft) => void;

  constructor(value: Draft, onChange: (value: Draft) => void) {
    [this.#value, this.#onChange] = [value, onChange];
  }

  set(value: Draft, onChange: (value: Draft) => void): void {
    [this.#value, this.#onChange] = [value, onChange];
  }

  readonly onMember: OnMember = (name, member) => this.#onChange(withMember(this.#value, name, member));
}

interface MemberFieldProps extends Omit<AnyFieldProps, "onChange">, Pick<MembersProps, "renderValue"> {
  readonly onMember: OnMember;
}

const MemberField = memo(function MemberField({ onMember, renderValue: Value, ...field }: MemberFieldProps): ReactNode {
  const { name } = field;
  const onChange = useCallback((member: Draft) => onMember(name, member), [onMember, name]);
  return <Value {...field} onChange={onChange} />;
});

interface FoldedProps extends Pick<MembersProps, "members" | "path" | "value"> {
  readonly children: () => ReactNode;
}

function Folded({ members, value, children }: FoldedProps): ReactNode {
  const set = members.filter(({ name }) => memberOf(value, name) !== undefined).length;
  const [isOpen, setOpen] = useState(set > 0);
  return (
    <details className="optional-members" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {members.length} optional <span className="muted">{set === 0 ? "none set" : `${set} set`}</span>
      </summary>
      <div className="stack optional-fields">{children()}</div>
    </details>
  );
}
