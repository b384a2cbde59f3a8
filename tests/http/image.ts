// SPDX-License-Identifier: Apache-2.0
// image.ts - a small OCI archive by hand: one layer of these files, plain. Format: OCI image-spec, image-layout.md; POSIX ustar.
import { createHash } from 'node:crypto';

export type Entry = { name: string; text?: string; mode?: number; type?: string };
const sha = (b: Buffer): string => createHash('sha256').update(b).digest('hex');

function tar(entries: Entry[]): Buffer {
  const parts: Buffer[] = [];
  for (const { name, text = '', mode = 0o644, type = '0' } of entries) {
    const head = Buffer.alloc(512);
    const body = Buffer.from(text, 'binary');
    head.write(name, 0);
    head.write(mode.toString(8).padStart(7, '0'), 100);
    head.write(body.length.toString(8).padStart(11, '0'), 124);
    head.write(type, 156);
    head.write('ustar\0' + '00', 257);
    head.fill(' ', 148, 156);
    head.write(head.reduce((sum, b) => sum + b, 0).toString(8).padStart(6, '0') + '\0', 148);
    parts.push(head, body, Buffer.alloc((512 - (body.length % 512)) % 512));
  }
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

/** The archive, and the digest of its one image. */
export function image(files: Entry[]): { bytes: Buffer; digest: string } {
  const layer = tar(files);
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const config = Buffer.from(JSON.stringify({ architecture: arch, os: 'linux', rootfs: { type: 'layers',
    diff_ids: [`sha256:${sha(layer)}`] } }));
  const named = (b: Buffer, mediaType: string) => ({ mediaType, digest: `sha256:${sha(b)}`, size: b.length });
  const manifest = Buffer.from(JSON.stringify({
    schemaVersion: 2,
    config: named(config, 'application/vnd.oci.image.config.v1+json'),
    layers: [named(layer, 'application/vnd.oci.image.layer.v1.tar')],
  }));
  const index = JSON.stringify({ schemaVersion: 2, manifests: [named(manifest, 'application/vnd.oci.image.manifest.v1+json')] });
  const blob = (b: Buffer): Entry => ({ name: `blobs/sha256/${sha(b)}`, text: b.toString('binary') });
  const bytes = tar([{ name: 'oci-layout', text: '{"imageLayoutVersion":"1.0.0"}' }, { name: 'index.json', text: index },
    blob(layer), blob(config), blob(manifest)]);
  return { bytes, digest: `sha256:${sha(manifest)}` };
}
