import type { ReactNode } from 'react';
import { TextField, type TextFieldProps } from './text-field.tsx';

/** What the API takes as the comment of a change. */
const maxComment = 1000;

/** A field for the comment of a change, which the history keeps. */
export function CommentField(
  props: Pick<TextFieldProps, 'value' | 'onChange' | 'fieldRef' | 'placeholder' | 'maxLength'>,
): ReactNode {
  return <TextField label="Comment" maxLength={maxComment} {...props} />;
}
