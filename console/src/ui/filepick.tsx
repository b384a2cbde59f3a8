// SPDX-License-Identifier: Apache-2.0
// filepick.tsx - a button that lets one file be chosen, and the same one again.
import { Button } from '@patternfly/react-core';
import { useRef, type ReactNode } from 'react';

interface Props {
  accept: string;
  take: (file: File | undefined) => void;
  id?: string;
  describedBy?: string;
  children: ReactNode;
}
export function FilePick({ accept, take, id, describedBy, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept={accept}
        onChange={(e) => {
          take(e.target.files?.[0]);
          e.target.value = '';
        }}
      />
      <Button
        variant="secondary"
        {...(id ? { id } : {})}
        {...(describedBy ? { 'aria-describedby': describedBy } : {})}
        onClick={() => input.current?.click()}
      >
        {children}
      </Button>
    </>
  );
}
