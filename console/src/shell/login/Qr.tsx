// SPDX-License-Identifier: Apache-2.0
// Qr.tsx - a QR code as one path of SVG: black on white in dark mode too, or cameras do not read it.
import { useMemo } from 'react';
import { encode } from 'uqr';

export function Qr({ text, label }: { text: string; label: string }) {
  const code = useMemo(() => {
    const made = encode(text, { ecc: 'M', border: 4 });
    let path = '';
    made.data.forEach((row, y) =>
      row.forEach((dark, x) => {
        if (dark) path += `M${x} ${y}h1v1h-1z`;
      }),
    );
    return { size: made.size, path };
  }, [text]);
  return (
    <svg
      className="qr"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${code.size} ${code.size}`}
      shapeRendering="crispEdges"
    >
      <rect width={code.size} height={code.size} fill="#fff" />
      <path d={code.path} fill="#000" />
    </svg>
  );
}
