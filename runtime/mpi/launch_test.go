package mpi

import "testing"

// TestLaunched reads what launchers set; the variables were seen with these.
func TestLaunched(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want Launch
	}{
		{"none", nil, Launch{}},
		{"Open MPI 5", map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3", "PMIX_RANK": "3"}, Launch{"Open MPI", 4, 3, "coalesce-openmpi.so"}},
		{"MPICH's hydra", map[string]string{"PMI_SIZE": "4", "PMI_RANK": "2"}, Launch{"MPICH", 4, 2, "coalesce-mpich.so"}},
		{"srun --mpi=pmix", map[string]string{"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "5", "PMIX_RANK": "5"}, Launch{"Slurm", 8, 5, "coalesce-openmpi.so"}},
		{"srun --mpi=pmi2", map[string]string{"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "5", "PMI_SIZE": "8", "PMI_RANK": "5"}, Launch{"Slurm", 8, 5, "coalesce-mpich.so"}},
		{"a batch script, no step", map[string]string{"SLURM_NTASKS": "8"}, Launch{}},
		{"off", map[string]string{"OMPI_COMM_WORLD_SIZE": "4", LibraryVariable: "off"}, Launch{}},
		{"no number", map[string]string{"OMPI_COMM_WORLD_SIZE": "many"}, Launch{}},
	} {
		if got := LaunchFromEnv(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
