// Prints what Flux and Argo CD say of the health of Kubernetes objects: the answers of their own code.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// input is read from the standard input as JSON.
type input struct {
	// Customizations is the text of `resource.customizations` in Argo CD's ConfigMap.
	Customizations string                      `json:"customizations"`
	Objects        []unstructured.Unstructured `json:"objects"`
}

type verdict struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// verdicts is written to the standard output for each object.
type verdicts struct {
	Kstatus verdict `json:"kstatus"`
	Argo    verdict `json:"argo"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return fmt.Errorf("reading the input: %w", err)
	}
	var overrides map[string]v1alpha1.ResourceOverride
	if err := yaml.Unmarshal([]byte(in.Customizations), &overrides); err != nil {
		return fmt.Errorf("parsing the customizations: %w", err)
	}
	out := make([]verdicts, 0, len(in.Objects))
	for i := range in.Objects {
		judged, err := judge(&in.Objects[i], overrides)
		if err != nil {
			return fmt.Errorf("object %d: %w", i, err)
		}
		out = append(out, judged)
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func judge(object *unstructured.Unstructured, overrides map[string]v1alpha1.ResourceOverride) (verdicts, error) {
	computed, err := status.Compute(object)
	if err != nil {
		return verdicts{}, fmt.Errorf("kstatus: %w", err)
	}
	argo, err := health.GetResourceHealth(object, lua.ResourceHealthOverrides(overrides))
	if err != nil {
		return verdicts{}, fmt.Errorf("Argo CD: %w", err)
	}
	// Without a check for a kind, Argo CD takes no health into account.
	if argo == nil {
		argo = &health.HealthStatus{}
	}
	return verdicts{
		Kstatus: verdict{Status: string(computed.Status), Message: computed.Message},
		Argo:    verdict{Status: string(argo.Status), Message: argo.Message},
	}, nil
}
