#!/bin/sh
# Checks that a library loads fewer bytes than given, whatever symbols for debuggers its file has:
# check-size.sh LIBRARY BYTES
set -eu

bytes=$(size "$1" | awk 'NR == 2 { print $1 + $2 }')
if [ "$bytes" -ge "$2" ]; then
    echo "check-size: $1 loads $bytes bytes, the limit is $2"
    exit 1
fi
echo "check-size: OK, $bytes of $2 bytes"
