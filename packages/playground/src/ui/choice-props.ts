export interface ChoiceProps {
  readonly label: string;
  readonly optional?: boolean;
  readonly options: readonly { readonly id: string; readonly text: string }[];
  readonly value: string | undefined;
  readonly onChange: (id: string) => void;
  readonly placeholder?: string;
  readonly isInvalid?: boolean;
  readonly isDisabled?: boolean;
  readonly onBlur?: () => void;
}
