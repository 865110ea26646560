# Completion of hermes in fish:  hermes completion fish | source
function __hermes
    set -l given (commandline -opc)[2..] (commandline -ct)
    for line in (hermes completion words -- $given 2>/dev/null)
        set -l part (string split \t -- $line)
        switch $part[1]
            case file
                __fish_complete_path (commandline -ct)
            case dir
                __fish_complete_directories (commandline -ct)
            case '*'
                printf '%s\t%s\n' $part[2] $part[3]
        end
    end
end
complete -c hermes -f -a '(__hermes)'
