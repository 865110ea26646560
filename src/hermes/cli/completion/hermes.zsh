#compdef hermes
# Completion of hermes in zsh:  eval "$(hermes completion zsh)"
_hermes() {
    local -a found
    local line kind value meaning
    for line in "${(@f)$(hermes completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        IFS=$'\t' read -r kind value meaning <<< "$line"
        case $kind in
            file) _files ;;
            dir) _files -/ ;;
            plain) found+=("${value//:/\\:}:$meaning") ;;
        esac
    done
    (( $#found )) && _describe hermes found
}
(( $+functions[compdef] )) && compdef _hermes hermes
