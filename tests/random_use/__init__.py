"""Random commands, machines, calls and rank programs: each ends in results or in one clear line."""
