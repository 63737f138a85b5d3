#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes files of UTF-8 as Swift strings that are named as the files are: embed.sh OUTPUT FILE...
set -eu
output="$1"
shift

{
    echo 'enum Embedded {'
    for file in "$@"; do
        printf '    static let `%s` = ###"""\n' "$(basename "$file")"
        cat "$file"
        printf '\n"""###\n'
    done
    echo '    static let all: [(name: String, text: String)] = ['
    for file in "$@"; do printf '        ("%s", `%s`),\n' "$(basename "$file")" "$(basename "$file")"; done
    echo '    ]'
    echo '}'
} >"$output"
