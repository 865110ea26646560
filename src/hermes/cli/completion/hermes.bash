# Completion of hermes in bash:  eval "$(hermes completion bash)"
_hermes() {
    local kind value meaning
    COMPREPLY=()
    while IFS=$'\t' read -r kind value meaning; do
        case $kind in
            file) compopt -o default ;;
            dir) compopt -o dirnames ;;
            *) COMPREPLY+=("$value") ;;
        esac
    done < <(hermes completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _hermes hermes
