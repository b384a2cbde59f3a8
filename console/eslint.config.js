// SPDX-License-Identifier: Apache-2.0
import a11y from 'eslint-plugin-jsx-a11y';
import ts from 'typescript-eslint';

const ASSERTED = 'The address gives a call its type (src/api/paths.ts): nothing is asserted of what comes.';
const CALL = 'CallExpression[callee.name=/^(useGet|get|getPage|change)$/]';

export default ts.config({ ignores: ['dist', 'src/api/gen'] }, ...ts.configs.strict, a11y.flatConfigs.recommended, {
    rules: {
        // What scrolls has to be reachable by keyboard.
        'jsx-a11y/no-noninteractive-tabindex': ['error', { tags: ['pre'], roles: ['tabpanel', 'region', 'log'] }],
        '@typescript-eslint/no-dynamic-delete': 'off',
        '@typescript-eslint/no-non-null-assertion': 'off',
        'no-restricted-syntax': [
            'error',
            { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'Text stays text.' },
            { selector: `${CALL} > TSTypeParameterInstantiation`, message: ASSERTED },
            { selector: `TSAsExpression > ${CALL}`, message: ASSERTED },
            { selector: `TSAsExpression > AwaitExpression > ${CALL}`, message: ASSERTED },
            { selector: `TSAsExpression > MemberExpression[property.name='data']`, message: ASSERTED },
            { selector: `TSAsExpression TSIndexedAccessType[objectType.typeName.name='Schemas']`, message: ASSERTED },
            {
                selector: `TSAsExpression TSIndexedAccessType[objectType.typeName.name='components']`,
                message: ASSERTED,
            },
            { selector: 'JSXText[value=/[A-Za-z]{2}/]', message: 'Words belong in src/locales.' },
        ],
    },
});
