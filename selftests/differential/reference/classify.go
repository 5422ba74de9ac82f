// SPDX-License-Identifier: GPL-2.0

package main

import (
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	_ "unsafe" // for go:linkname

	flowcontrol "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/util/apihelpers"
	apf "k8s.io/apiserver/pkg/util/flowcontrol"
	"sigs.k8s.io/yaml"
)

//go:linkname matchesFlowSchema k8s.io/apiserver/pkg/util/flowcontrol.matchesFlowSchema
func matchesFlowSchema(digest apf.RequestDigest, schema *flowcontrol.FlowSchema) bool

//go:linkname computeFlowDistinguisher k8s.io/apiserver/pkg/util/flowcontrol.computeFlowDistinguisher
func computeFlowDistinguisher(digest apf.RequestDigest, method *flowcontrol.FlowDistinguisherMethod) string

// manifests is the directory of the repository's; the linker knows.
var manifests string

// schemaCase is a FlowSchema beside those of the set.
type schemaCase struct {
	Name          string                                `json:"name"`
	Level         string                                `json:"level"`
	Precedence    int32                                 `json:"precedence"`
	Distinguisher string                                `json:"distinguisher"`
	Rules         []flowcontrol.PolicyRulesWithSubjects `json:"rules"`
}

type classifyCase struct {
	httpRequest
	User    string       `json:"user"`
	Groups  []string     `json:"groups"`
	Set     string       `json:"set"`
	Schemas []schemaCase `json:"schemas"`
}

type classifyAnswer struct {
	Error         bool   `json:"error,omitempty"`
	Schema        string `json:"schema,omitempty"`
	Level         string `json:"level,omitempty"`
	Distinguisher string `json:"distinguisher,omitempty"`
}

// schemaSet is what a case may start from.
type schemaSet struct {
	schemas []*flowcontrol.FlowSchema
	levels  map[string]bool
}

func (s *schemaSet) add(schemas []*flowcontrol.FlowSchema, levels []*flowcontrol.PriorityLevelConfiguration) {
	s.schemas = append(s.schemas, schemas...)
	for _, level := range levels {
		s.levels[level.Name] = true
	}
}

// addManifests adds what kapf's side finds in the same directory.
func (s *schemaSet) addManifests() {
	files, err := filepath.Glob(manifests + "/*.yaml")
	if err != nil || len(files) == 0 {
		fatal("no manifests in %q: %v", manifests, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			fatal("%v", err)
		}
		for _, document := range strings.Split(string(text), "\n---") {
			s.addDocument(file, document)
		}
	}
}

func (s *schemaSet) addDocument(file, document string) {
	schema := &flowcontrol.FlowSchema{}
	if err := yaml.Unmarshal([]byte(document), schema); err != nil {
		fatal("%s: %v", file, err)
	}
	switch schema.Kind {
	case "FlowSchema":
		// The same one stands there in several versions.
		s.schemas = slices.DeleteFunc(s.schemas, func(f *flowcontrol.FlowSchema) bool {
			return f.Name == schema.Name
		})
		s.schemas = append(s.schemas, schema)
	case "PriorityLevelConfiguration":
		s.levels[schema.Name] = true
	default:
		fatal("%s: kind %q", file, schema.Kind)
	}
}

// schemaSets are made when they are needed first.
var schemaSets = map[string]*schemaSet{}

func findSet(name string) *schemaSet {
	if set := schemaSets[name]; set != nil {
		return set
	}
	set := &schemaSet{levels: map[string]bool{}}
	set.add(bootstrap.MandatoryFlowSchemas,
		bootstrap.MandatoryPriorityLevelConfigurations)
	if name != "mandatory" {
		set.add(bootstrap.SuggestedFlowSchemas,
			bootstrap.SuggestedPriorityLevelConfigurations)
	}
	if name == "manifests" {
		set.addManifests()
	}
	schemaSets[name] = set
	return set
}

// classify compares which FlowSchema a request belongs to, and its flow.
var classify = &area[classifyCase, classifyAnswer]{
	name:    "classify",
	draw:    drawClassify,
	answer:  answerClassify,
	smaller: smallerClassify,
	enough:  20000,
	wanted: []string{
		"exempt", "probes", "system-leader-election", "system-node-high",
		"system-nodes", "kube-controller-manager", "kube-scheduler",
		"kube-system-service-accounts", "service-accounts", "global-default",
		"catch-all", "ci-runners", "cilium-pods", "health-for-strangers",
		"list-events-default-service-account", "ocr-pipeline",
		"a random schema for a resource", "a random schema for a path",
		"nothing matches", "dangling", "same precedence", "refused",
		"by user", "by namespace", "no distinguisher", "no namespace",
	},
}

var (
	users = []string{"alice", "bob", "system:anonymous", "system:kube-scheduler",
		"system:kube-controller-manager", "system:node:n1",
		"system:serviceaccount:kube-system:coredns",
		"system:serviceaccount:ci:runner", "system:serviceaccount:ci",
		"system:serviceaccount:cix:runner", "system:serviceaccount:ci:a:b",
		"system:serviceaccount:default:default",
		"system:serviceaccount:doc-ocr:ocr-dispatcher",
		"system:serviceaccount::", "würfel", ""}
	userGroups = []string{"system:masters", "system:nodes", "ops", "dev",
		"system:serviceaccounts", "system:serviceaccounts:ci",
		"system:serviceaccounts:d8-cni-cilium", "*"}
	verbs = []string{"get", "list", "watch", "create", "update", "patch",
		"delete", "deletecollection", "proxy"}
	levels = []string{"exempt", "catch-all", "system", "workload-low",
		"global-default", "ci-runners", "nowhere"}
	rulePaths = []string{"/", "/healthz", "/healthz/*", "/readyz", "/livez/",
		"/version", "/api", "/api/*", "/apis/apps", "/debug/*", "/*",
		"/logs/a/b/", "/metrics", "/openapi/v3/apis"}
)

// some picks a list without repetition, or the star that stands alone.
func some(r *rand.Rand, list []string, star int) []string {
	if in(r, star) {
		return []string{"*"}
	}
	var picked []string
	for range 1 + r.IntN(3) {
		if item := pick(r, list...); item != "*" && !slices.Contains(picked, item) {
			picked = append(picked, item)
		}
	}
	if picked == nil {
		return []string{"*"}
	}
	return picked
}

// meantFor are URL, user and group of requests for which there are schemas that
// would be met too rarely.
var meantFor = [][3]string{
	{"/healthz", "bob", "system:unauthenticated"},
	{"/livez/ping", "bob", "system:authenticated"},
	{"/apis/cilium.io/v2/ciliumendpoints", "", "system:serviceaccounts:d8-cni-cilium"},
	{"/api/v1/namespaces/default/events",
		"system:serviceaccount:default:default", "system:serviceaccounts"},
	{"/api/v1/nodes/n1/status", "system:node:n1", "system:nodes"},
	{"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l",
		"system:kube-scheduler", "dev"},
}

func drawSubject(r *rand.Rand) flowcontrol.Subject {
	switch r.IntN(3) {
	case 0:
		name := pick(r, users...)
		if name == "" || in(r, 4) {
			name = "*"
		}
		return flowcontrol.Subject{Kind: flowcontrol.SubjectKindUser,
			User: &flowcontrol.UserSubject{Name: name}}
	case 1:
		return flowcontrol.Subject{Kind: flowcontrol.SubjectKindGroup,
			Group: &flowcontrol.GroupSubject{Name: pick(r, append(userGroups,
				"system:authenticated", "system:unauthenticated")...)}}
	}
	return flowcontrol.Subject{Kind: flowcontrol.SubjectKindServiceAccount,
		ServiceAccount: &flowcontrol.ServiceAccountSubject{
			Namespace: pick(r, "ci", "kube-system", "default", "cix"),
			Name:      pick(r, "*", "*", "runner", "default", "a")}}
}

func drawResourceRule(r *rand.Rand) flowcontrol.ResourcePolicyRule {
	rule := flowcontrol.ResourcePolicyRule{
		Verbs:        some(r, verbs, 2),
		APIGroups:    some(r, append(groups[:5:5], "", "", "", ""), 2),
		ClusterScope: in(r, 2),
	}
	list := slices.Clone(resources)
	for range 4 {
		list = append(list, pick(r, resources...)+"/"+pick(r, subresources...))
	}
	rule.Resources = some(r, append(list, "pods/*", "*/log"), 2)
	if !rule.ClusterScope || in(r, 2) {
		rule.Namespaces = some(r, []string{"kube-system", "default", "ci",
			"team-a", "status"}, 2)
	}
	return rule
}

func drawRule(r *rand.Rand) flowcontrol.PolicyRulesWithSubjects {
	var rule flowcontrol.PolicyRulesWithSubjects

	for range 1 + r.IntN(3) {
		rule.Subjects = append(rule.Subjects, drawSubject(r))
	}
	for range r.IntN(3) {
		rule.ResourceRules = append(rule.ResourceRules, drawResourceRule(r))
	}
	if rule.ResourceRules == nil || in(r, 3) {
		rule.NonResourceRules = append(rule.NonResourceRules,
			flowcontrol.NonResourcePolicyRule{
				Verbs:           some(r, verbs, 2),
				NonResourceURLs: some(r, rulePaths, 6),
			})
	}
	return rule
}

func drawSchemas(r *rand.Rand) []schemaCase {
	list := []schemaCase{}
	for _, name := range []string{"a", "b", "a.b", "a-b"}[:r.IntN(1+r.IntN(1+r.IntN(5)))] {
		s := schemaCase{
			Name:          name,
			Level:         pick(r, levels...),
			Precedence:    pick[int32](r, 2, 2, 10, 10, 800, 9000, 10000),
			Distinguisher: pick(r, "", "ByUser", "ByNamespace"),
		}
		for range 1 + r.IntN(2) {
			s.Rules = append(s.Rules, drawRule(r))
		}
		list = append(list, s)
	}
	return list
}

func drawClassify(r *rand.Rand) classifyCase {
	c := classifyCase{
		httpRequest: drawRequest(r),
		User:        pick(r, users...),
		Groups:      []string{},
		Set:         pick(r, "mandatory", "defaults", "manifests"),
		Schemas:     drawSchemas(r),
	}
	if in(r, 8) {
		meant := pick(r, meantFor...)
		c.httpRequest = httpRequest{pick(r, "GET", "GET", "HEAD"), meant[0]}
		c.User = meant[1]
		c.Groups = append(c.Groups, meant[2])
	}
	for range r.IntN(3) {
		c.Groups = append(c.Groups, pick(r, userGroups...))
	}
	if !in(r, 8) {
		c.Groups = append(c.Groups, pick(r, "system:authenticated",
			"system:authenticated", "system:unauthenticated"))
	}
	return c
}

func (s *schemaCase) object() *flowcontrol.FlowSchema {
	schema := &flowcontrol.FlowSchema{}
	schema.Name = s.Name
	schema.Spec.PriorityLevelConfiguration.Name = s.Level
	schema.Spec.MatchingPrecedence = s.Precedence
	schema.Spec.Rules = s.Rules
	if s.Distinguisher != "" {
		schema.Spec.DistinguisherMethod = &flowcontrol.FlowDistinguisherMethod{
			Type: flowcontrol.FlowDistinguisherMethodType(s.Distinguisher)}
	}
	return schema
}

// candidates are the schemas of a case in the order in which they are tried.
// Those of which the level is not there do not count.
func (c *classifyCase) candidates() apihelpers.FlowSchemaSequence {
	set := findSet(c.Set)
	list := apihelpers.FlowSchemaSequence(slices.Clone(set.schemas))
	for i := range c.Schemas {
		list = append(list, c.Schemas[i].object())
	}
	sort.Sort(list)
	return slices.DeleteFunc(list, func(f *flowcontrol.FlowSchema) bool {
		return !set.levels[f.Spec.PriorityLevelConfiguration.Name]
	})
}

func answerClassify(c classifyCase) classifyAnswer {
	_, info, err := c.parse()
	if err != nil {
		met["refused"]++
		return classifyAnswer{Error: true}
	}
	digest := apf.RequestDigest{
		RequestInfo: info,
		User:        &user.DefaultInfo{Name: c.User, Groups: c.Groups},
	}
	list := c.candidates()
	at := slices.IndexFunc(list, func(f *flowcontrol.FlowSchema) bool {
		return matchesFlowSchema(digest, f)
	})
	countCandidates(&c, list, digest, at)
	if at < 0 {
		at = slices.Index(list, bootstrap.MandatoryFlowSchemaCatchAll)
	}
	schema := list[at]
	method := schema.Spec.DistinguisherMethod
	switch {
	case method == nil:
		met["no distinguisher"]++
	case method.Type == flowcontrol.FlowDistinguisherMethodByUserType:
		met["by user"]++
	case info.Namespace == "":
		met["no namespace"]++
	default:
		met["by namespace"]++
	}
	return classifyAnswer{
		Schema:        schema.Name,
		Level:         schema.Spec.PriorityLevelConfiguration.Name,
		Distinguisher: printable(computeFlowDistinguisher(digest, method)),
	}
}

// countCandidates says what kinds of cases there were.
func countCandidates(c *classifyCase, list apihelpers.FlowSchemaSequence, digest apf.RequestDigest, at int) {
	if at < 0 {
		met["nothing matches"]++
		return
	}
	name := list[at].Name
	met[name]++
	for i := range c.Schemas {
		s := &c.Schemas[i]
		if s.Level == "nowhere" && matchesFlowSchema(digest, s.object()) {
			met["dangling"]++
		}
		if s.Name == name && digest.RequestInfo.IsResourceRequest {
			met["a random schema for a resource"]++
		} else if s.Name == name {
			met["a random schema for a path"]++
		}
	}
	if at+1 < len(list) && matchesFlowSchema(digest, list[at+1]) &&
		list[at].Spec.MatchingPrecedence == list[at+1].Spec.MatchingPrecedence {
		met["same precedence"]++
	}
}

// without is a list less one of its elements.
func without[T any](list []T, i int) []T {
	return slices.Delete(slices.Clone(list), i, i+1)
}

func smallerClassify(c classifyCase) iter.Seq[classifyCase] {
	return func(yield func(classifyCase) bool) {
		for i := range c.Schemas {
			s := c
			s.Schemas = without(c.Schemas, i)
			if !yield(s) {
				return
			}
		}
		for i := range c.Groups {
			s := c
			s.Groups = without(c.Groups, i)
			if !yield(s) {
				return
			}
		}
		for request := range c.httpRequest.smaller() {
			s := c
			s.httpRequest = request
			if !yield(s) {
				return
			}
		}
	}
}
