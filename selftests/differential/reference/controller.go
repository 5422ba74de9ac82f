// SPDX-License-Identifier: GPL-2.0

package main

import (
	"context"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	v1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/util/flowcontrol"
	"k8s.io/apiserver/pkg/util/flowcontrol/debug"
	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	"k8s.io/apiserver/pkg/util/flowcontrol/metrics"
	fcrequest "k8s.io/apiserver/pkg/util/flowcontrol/request"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
)

// allocProblemItem has the layout of the reference's type of that name.
type allocProblemItem struct {
	target     float64
	lowerBound float64
	upperBound float64
}

//go:linkname computeConcurrencyAllocation k8s.io/apiserver/pkg/util/flowcontrol.computeConcurrencyAllocation
func computeConcurrencyAllocation(sum int, items []allocProblemItem) ([]float64, float64, error)

//go:linkname digestConfig k8s.io/apiserver/pkg/util/flowcontrol.(*configController).lockAndDigestConfigObjects
func digestConfig(c unsafe.Pointer, levels []*v1.PriorityLevelConfiguration, schemas []*v1.FlowSchema) []struct{}

//go:linkname updateBorrowing k8s.io/apiserver/pkg/util/flowcontrol.(*configController).updateBorrowing
func updateBorrowing(c unsafe.Pointer)

// controller is the reference's controller, over queue sets that do nothing.
type controller struct {
	self     unsafe.Pointer
	levels   *map[string]unsafe.Pointer // *priorityLevelState
	server   *int
	nominals *int // nominalCLSum

	// Where the fields of a priorityLevelState are.
	nominal, min, max, current, smoothed uintptr

	// demand is where a level's seat demand is reported.
	demand map[string]metrics.Gauge
}

// field says where in a type the field is that path leads to.
func field(t reflect.Type, path ...string) (offset uintptr) {
	for _, name := range path {
		f, found := t.FieldByName(name)
		if !found {
			fatal("the reference's %v has no field %s", t, name)
		}
		offset += f.Offset
		t = f.Type
	}
	return offset
}

func newController() *controller {
	klog.SetLogger(klog.Logger{}) // it complains where there is no solution
	k := &controller{demand: map[string]metrics.Gauge{}}
	c := reflect.ValueOf(flowcontrol.NewTestable(flowcontrol.TestableConfig{
		Clock:             &handClock{time.Unix(1, 0)},
		FoundToDangling:   func(found bool) bool { return !found },
		InformerFactory:   informers.NewSharedInformerFactory(nil, 0),
		ReqsGaugeVec:      metrics.PriorityLevelConcurrencyGaugeVec,
		ExecSeatsGaugeVec: metrics.PriorityLevelExecutionSeatsGaugeVec,
		QueueSetFactory:   idleQueues{k},
	}))
	t := c.Type().Elem()
	k.self = c.UnsafePointer()
	k.levels = (*map[string]unsafe.Pointer)(unsafe.Add(k.self, field(t, "priorityLevelStates")))
	k.server = (*int)(unsafe.Add(k.self, field(t, "serverConcurrencyLimit")))
	k.nominals = (*int)(unsafe.Add(k.self, field(t, "nominalCLSum")))
	states, _ := t.FieldByName("priorityLevelStates")
	t = states.Type.Elem().Elem()
	k.nominal = field(t, "nominalCL")
	k.min = field(t, "minCL")
	k.max = field(t, "maxCL")
	k.current = field(t, "currentCL")
	k.smoothed = field(t, "seatDemandStats", "smoothed")
	return k
}

// integer is a field of a level.
func (k *controller) integer(level string, offset uintptr) int {
	return *(*int)(unsafe.Add((*k.levels)[level], offset))
}

// configure starts anew with these levels.
func (k *controller) configure(server int, levels []*v1.PriorityLevelConfiguration) {
	*k.levels = map[string]unsafe.Pointer{}
	*k.server = server
	digestConfig(k.self, levels, nil)
}

// setDemand makes a level's demand the greatest that there was in this period,
// and its smoothed demand what earlier ones have left.
func (k *controller) setDemand(level string, watermark int, smoothed float64) {
	k.demand[level].Set(float64(watermark))
	*(*float64)(unsafe.Add((*k.levels)[level], k.smoothed)) = smoothed
}

// borrow ends a period, of no length.
func (k *controller) borrow() {
	updateBorrowing(k.self)
}

// levelNames are those of the mandatory levels, then others.
var levelNames = func() []string {
	names := []string{v1.PriorityLevelConfigurationNameExempt,
		v1.PriorityLevelConfigurationNameCatchAll}
	for len(names) < 256 {
		names = append(names, "level-"+strconv.Itoa(len(names)))
	}
	return names
}()

// newConfiguration makes the configuration of the level with that index of levelNames.
func newConfiguration(index int, shares, lendable int32, borrowing *int32) *v1.PriorityLevelConfiguration {
	level := &v1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: levelNames[index]}}
	if index == 0 {
		level.Spec.Type = v1.PriorityLevelEnablementExempt
		level.Spec.Exempt = &v1.ExemptPriorityLevelConfiguration{
			NominalConcurrencyShares: &shares,
			LendablePercent:          &lendable,
		}
		return level
	}
	level.Spec.Type = v1.PriorityLevelEnablementLimited
	level.Spec.Limited = &v1.LimitedPriorityLevelConfiguration{
		NominalConcurrencyShares: &shares,
		LendablePercent:          &lendable,
		BorrowingLimitPercent:    borrowing,
		LimitResponse:            v1.LimitResponse{Type: v1.LimitResponseTypeReject},
	}
	return level
}

// idleQueues makes queue sets in which there is never anything, whose seat
// demand is said to be what setDemand wants.
type idleQueues struct {
	k *controller
}

func (q idleQueues) BeginConstruction(c fq.QueuingConfig, _ metrics.RatioedGaugePair, _ metrics.RatioedGauge, demand metrics.Gauge) (fq.QueueSetCompleter, error) {
	q.k.demand[c.Name] = demand
	return q, nil
}

func (q idleQueues) BeginConfigChange(fq.QueuingConfig) (fq.QueueSetCompleter, error) {
	return q, nil
}

func (q idleQueues) Complete(fq.DispatchingConfig) fq.QueueSet { return q }
func (q idleQueues) IsIdle() bool                              { return true }
func (q idleQueues) Dump(bool) debug.QueueSetDump              { return debug.QueueSetDump{} }

func (q idleQueues) StartRequest(context.Context, *fcrequest.WorkEstimate, uint64, string, string, interface{}, interface{}, fq.QueueNoteFn) (fq.Request, bool) {
	return nil, true
}
