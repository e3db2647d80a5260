// SPDX-License-Identifier: Apache-2.0

// scan GOROOT MINOR GOARCH prints the functions of a Go release's standard library that do nothing
// but call another one with parameters of their own, a line each, fields parted by tabs:
//
//	name, signature, callee, its signature, what is passed as what (as in stdlib.h),
//	whether it is exported
//
// and before them the types that their signatures name, each with what it is made of.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

type forwarder struct {
	name, signature, callee, calleeSignature, passes string
	exported                                         bool
}

type scanner struct {
	ctx      build.Context
	fset     *token.FileSet
	packages map[string]*types.Package
	sizes    types.Sizes
	infos    map[string]*types.Info
	files    map[string][]*ast.File
	others   map[string]map[string]string // of files that are not of this build: name, signature
	found    map[string]forwarder
	types    map[string]string
	all      map[string]string // signatures
	public   map[string]bool
}

func newScanner(goroot string, minor int, arch string) *scanner {
	s := &scanner{ctx: build.Default, fset: token.NewFileSet(), packages: map[string]*types.Package{},
		sizes: types.SizesFor("gc", arch), infos: map[string]*types.Info{},
		files: map[string][]*ast.File{}, others: map[string]map[string]string{},
		found: map[string]forwarder{}, types: map[string]string{}, all: map[string]string{}, public: map[string]bool{}}
	s.ctx.GOROOT, s.ctx.GOOS, s.ctx.GOARCH, s.ctx.CgoEnabled = goroot, "linux", arch, false
	s.ctx.ToolTags, s.ctx.ReleaseTags = nil, nil
	for i := 1; i <= minor; i++ {
		s.ctx.ReleaseTags = append(s.ctx.ReleaseTags, fmt.Sprintf("go1.%d", i))
	}
	return s
}

// Import makes the scanner a types.Importer: packages from their sources.
func (s *scanner) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if pkg, ok := s.packages[path]; ok {
		return pkg, nil
	}
	full := path
	dir := filepath.Join(s.ctx.GOROOT, "src", path)
	if _, err := os.Stat(dir); err != nil {
		full = "vendor/" + path
		dir = filepath.Join(s.ctx.GOROOT, "src", full)
	}
	listed, err := s.ctx.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range listed.GoFiles {
		file, err := parser.ParseFile(s.fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Types:      map[ast.Expr]types.TypeAndValue{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: s, Sizes: s.sizes, Error: func(error) {}}
	pkg, _ := conf.Check(full, s.fset, files, info)
	s.packages[path], s.infos[full], s.files[full] = pkg, info, files
	s.others[full] = s.declaredIn(dir, listed.IgnoredGoFiles)
	return pkg, nil
}

// What these files declare: functions with their signatures, types with none.
func (s *scanner) declaredIn(dir string, names []string) map[string]string {
	found := map[string]string{}
	for _, name := range names {
		file, err := parser.ParseFile(s.fset, filepath.Join(dir, name), nil, 0)
		if err != nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				found[written(fn)] = writtenTypes(fn)
				continue
			}
			for _, spec := range decl.(*ast.GenDecl).Specs {
				if typ, ok := spec.(*ast.TypeSpec); ok {
					found[typ.Name.Name] = ""
				}
			}
		}
	}
	return found
}

// "(*T).name", as a file has it.
func written(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	return "(" + types.ExprString(fn.Recv.List[0].Type) + ")." + fn.Name.Name
}

// The types of parameters and results, one for each, as a file has them.
func writtenTypes(fn *ast.FuncDecl) string {
	text := ""
	for _, list := range []*ast.FieldList{fn.Type.Params, fn.Type.Results} {
		text += "("
		if list == nil {
			continue
		}
		for _, field := range list.List {
			text += strings.Repeat(types.ExprString(field.Type)+",", max(1, len(field.Names)))
		}
	}
	return text
}

// Is it the same in each build of the release for Linux? Files with other constraints than the
// platform's may be replaced by others, which may declare it as well.
func (s *scanner) isInAllBuilds(path string, file *ast.File, fn *ast.FuncDecl) bool {
	other, has := s.others[path][written(fn)]
	return onlyPlatform(file) || !has || other == writtenTypes(fn)
}

// Words of build constraints that say nothing but the platform; files with others may be replaced
// by another build of the same release.
func isPlatform(tag string) bool {
	known := "aix android darwin dragonfly freebsd hurd illumos ios js linux netbsd openbsd plan9 " +
		"solaris wasip1 wasm windows zos unix 386 amd64 arm arm64 loong64 mips mipsle mips64 " +
		"mips64le ppc64 ppc64le riscv64 s390x"
	for _, word := range strings.Fields(known) {
		if word == tag {
			return true
		}
	}
	return strings.HasPrefix(tag, "go1.")
}

func onlyPlatform(file *ast.File) bool {
	good := true
	var walk func(expr constraint.Expr)
	walk = func(expr constraint.Expr) {
		switch x := expr.(type) {
		case *constraint.AndExpr:
			walk(x.X)
			walk(x.Y)
		case *constraint.OrExpr:
			walk(x.X)
			walk(x.Y)
		case *constraint.NotExpr:
			walk(x.X)
		case *constraint.TagExpr:
			good = good && isPlatform(x.Tag)
		}
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if expr, err := constraint.Parse(comment.Text); err == nil && comment.Pos() < file.Package {
				walk(expr)
			}
		}
	}
	return good
}

// A looker seeks the one call that a body makes on every way through it. Calls that compute its
// arguments do not count: if they are calls in the program too, the copy makes several and is
// refused there.
type looker struct {
	s       *scanner
	info    *types.Info
	calls   []*ast.CallExpr
	bad     bool
	changed map[types.Object]bool // assigned, or its address is taken
}

// statements takes bodies without branches, loops, defer and go.
func (l *looker) statements(body *ast.BlockStmt) {
	for _, stmt := range body.List {
		switch stmt.(type) {
		case *ast.ExprStmt, *ast.AssignStmt, *ast.DeclStmt, *ast.ReturnStmt:
			ast.Inspect(stmt, l.look)
			ast.Inspect(stmt, l.lookForChanges)
		default:
			l.bad = true
		}
	}
}

func (l *looker) isCall(call *ast.CallExpr) bool {
	tv := l.info.Types[call.Fun]
	return !tv.IsType() && !tv.IsBuiltin()
}

func (l *looker) look(node ast.Node) bool {
	switch x := node.(type) {
	case *ast.FuncLit:
		return false
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			before := len(l.calls)
			ast.Inspect(x.X, l.look)
			ast.Inspect(x.Y, l.look)
			l.bad = l.bad || len(l.calls) != before
			return false
		}
	case *ast.CallExpr:
		if l.isCall(x) {
			l.calls = append(l.calls, x)
			return false
		}
	}
	return true
}

func (l *looker) root(expr ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(expr).(type) {
		case *ast.Ident:
			return l.info.Uses[x]
		case *ast.SelectorExpr:
			expr = x.X
		case *ast.IndexExpr:
			expr = x.X
		case *ast.SliceExpr:
			expr = x.X
		default:
			return nil
		}
	}
}

func (l *looker) lookForChanges(node ast.Node) bool {
	switch x := node.(type) {
	case *ast.AssignStmt:
		for _, left := range x.Lhs {
			l.changed[l.root(left)] = true
		}
	case *ast.IncDecStmt:
		l.changed[l.root(x.X)] = true
	case *ast.RangeStmt:
		l.changed[l.root(x.Key)], l.changed[l.root(x.Value)] = true, true
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			l.changed[l.root(x.X)] = true
		}
	case *ast.SliceExpr: // of an array it takes the address
		l.changed[l.root(x.X)] = l.changed[l.root(x.X)] || !l.isSliceable(x.X)
	case *ast.SelectorExpr:
		if l.takesAddress(x) {
			l.changed[l.root(x.X)] = true
		}
	}
	return true
}

func (l *looker) isSliceable(expr ast.Expr) bool {
	switch l.info.Types[expr].Type.Underlying().(type) {
	case *types.Slice, *types.Basic, *types.Pointer:
		return true
	}
	return false
}

// x.Method where the method's receiver is a pointer and x is not
func (l *looker) takesAddress(x *ast.SelectorExpr) bool {
	sel := l.info.Selections[x]
	if sel == nil || sel.Kind() != types.MethodVal {
		return false
	}
	fn, ok := sel.Obj().(*types.Func)
	if !ok || fn.Type().(*types.Signature).Recv() == nil {
		return true
	}
	_, wants := fn.Type().(*types.Signature).Recv().Type().(*types.Pointer)
	_, is := l.info.Types[x.X].Type.Underlying().(*types.Pointer)
	return wants && !is
}

// Is the call's value all that the body returns?
func returnsCall(body *ast.BlockStmt, call *ast.CallExpr) bool {
	stmt, ok := body.List[len(body.List)-1].(*ast.ReturnStmt)
	return ok && len(body.List) == 1 && len(stmt.Results) == 1 && ast.Unparen(stmt.Results[0]) == ast.Expr(call)
}

func qualifier(pkg *types.Package) string { return pkg.Path() }

// The name that the linker gives a function; "": it has none of its own.
func symbol(fn *types.Func) string {
	sig := fn.Type().(*types.Signature)
	if fn.Pkg() == nil || sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0 {
		return ""
	}
	recv := sig.Recv()
	if recv == nil {
		return fn.Pkg().Path() + "." + fn.Name()
	}
	typ, star := recv.Type(), false
	if p, ok := typ.(*types.Pointer); ok {
		typ, star = p.Elem(), true
	}
	named, ok := typ.(*types.Named)
	if !ok || types.IsInterface(typ) || named.TypeArgs().Len() > 0 {
		return ""
	}
	if star {
		return fmt.Sprintf("%s.(*%s).%s", fn.Pkg().Path(), named.Obj().Name(), fn.Name())
	}
	return fmt.Sprintf("%s.%s.%s", fn.Pkg().Path(), named.Obj().Name(), fn.Name())
}

func params(sig *types.Signature) []*types.Var {
	var list []*types.Var
	if sig.Recv() != nil {
		list = append(list, sig.Recv())
	}
	for i := 0; i < sig.Params().Len(); i++ {
		list = append(list, sig.Params().At(i))
	}
	return list
}

func typeText(typ types.Type) string {
	text := types.TypeString(typ, qualifier)
	return strings.NewReplacer("interface{}", "any", "interface {}", "any").Replace(text)
}

func tuple(vars []*types.Var, variadic bool) string {
	var words []string
	for i, v := range vars {
		text := typeText(v.Type())
		if variadic && i == len(vars)-1 {
			text = "..." + strings.TrimPrefix(text, "[]")
		}
		if v.Name() != "" {
			text = v.Name() + " " + text
		} else if sharesNames(vars) {
			text = "_ " + text
		}
		words = append(words, text)
	}
	return "(" + strings.Join(words, ", ") + ")"
}

func sharesNames(vars []*types.Var) bool {
	for _, v := range vars {
		if v.Name() != "" {
			return true
		}
	}
	return false
}

func signatureText(sig *types.Signature) string {
	text := tuple(params(sig), sig.Variadic())
	var results []*types.Var
	for i := 0; i < sig.Results().Len(); i++ {
		results = append(results, sig.Results().At(i))
	}
	if len(results) == 0 {
		return text
	}
	if len(results) == 1 && results[0].Name() == "" {
		return text + " " + typeText(results[0].Type())
	}
	return text + " " + tuple(results, false)
}

func isInteger(typ types.Type) bool {
	basic, ok := typ.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// The own parameter that an argument is, bit for bit; nil: another value.
func (l *looker) passed(arg ast.Expr, to types.Type) *types.Var {
	arg = ast.Unparen(arg)
	from := l.info.Types[arg].Type
	if from == nil {
		return nil
	}
	same := types.Identical(from, to) || !types.IsInterface(to) && !types.IsInterface(from) &&
		types.Identical(from.Underlying(), to.Underlying())
	if !same && !(isInteger(from) && isInteger(to) && l.s.sizes.Sizeof(from) == l.s.sizes.Sizeof(to)) {
		return nil
	}
	if call, ok := arg.(*ast.CallExpr); ok && len(call.Args) == 1 && l.info.Types[call.Fun].IsType() {
		return l.passed(call.Args[0], from)
	}
	id, ok := arg.(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := l.info.Uses[id].(*types.Var)
	return v
}

// The values that a call passes, the receiver first; nil where it is not written as an expression.
func arguments(call *ast.CallExpr, sig *types.Signature, sel *types.Selection) []ast.Expr {
	var args []ast.Expr
	if sig.Recv() != nil {
		var recv ast.Expr
		if sel != nil && len(sel.Index()) == 1 {
			recv = call.Fun.(*ast.SelectorExpr).X
		}
		args = append(args, recv)
	}
	for i := 0; i < sig.Params().Len(); i++ {
		if sig.Variadic() && i == sig.Params().Len()-1 && call.Ellipsis == token.NoPos || i >= len(call.Args) {
			args = append(args, nil)
		} else {
			args = append(args, call.Args[i])
		}
	}
	return args
}

func (l *looker) callee(call *ast.CallExpr) (*types.Func, *types.Selection) {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		fn, _ := l.info.Uses[fun].(*types.Func)
		return fn, nil
	case *ast.SelectorExpr:
		fn, _ := l.info.Uses[fun.Sel].(*types.Func)
		return fn, l.info.Selections[fun]
	}
	return nil, nil
}

// Do the arguments of the call hold calls of the same function? Which of them stays a call is not
// known then.
func (l *looker) callsWithin(call *ast.CallExpr, callee string) bool {
	found := false
	ast.Inspect(call, func(node ast.Node) bool {
		if inner, ok := node.(*ast.CallExpr); ok && inner != call {
			fn, _ := l.callee(inner)
			found = found || fn != nil && symbol(fn) == callee
		}
		return true
	})
	return found
}

func (l *looker) passes(own, called []*types.Var, args []ast.Expr) (string, bool) {
	text, any := "", false
	for _, param := range own {
		mark := "-"
		for i, arg := range args {
			if arg != nil && param.Name() != "" && !l.changed[param] && l.passed(arg, called[i].Type()) == param {
				mark, any = strconv.Itoa(i), true
				break
			}
		}
		text += mark
	}
	return text, any
}

func sameResults(a, b *types.Tuple) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := 0; i < a.Len(); i++ {
		if !types.Identical(a.At(i).Type(), b.At(i).Type()) {
			return false
		}
	}
	return a.Len() > 0
}

func isPublic(fn *types.Func) bool {
	path := fn.Pkg().Path()
	if !fn.Exported() || strings.Contains("/"+path, "/internal/") || strings.HasPrefix(path, "vendor/") ||
		strings.HasSuffix(path, "/internal") {
		return false
	}
	recv := fn.Type().(*types.Signature).Recv()
	if recv == nil {
		return true
	}
	typ := recv.Type()
	if p, ok := typ.(*types.Pointer); ok {
		typ = p.Elem()
	}
	named, ok := typ.(*types.Named)
	return ok && named.Obj().Exported()
}

// What a value of the type is made of, with no names of other types whose size would matter.
func madeOf(typ types.Type) string {
	switch under := typ.Underlying().(type) {
	case *types.Struct:
		var fields []string
		for i := 0; i < under.NumFields(); i++ {
			fields = append(fields, under.Field(i).Name()+" "+madeOf(under.Field(i).Type()))
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	case *types.Array:
		return fmt.Sprintf("[%d]%s", under.Len(), madeOf(under.Elem()))
	case *types.Interface:
		if under.NumMethods() > 0 {
			return "interface{M()}"
		}
		return "any"
	default:
		return typeText(under)
	}
}

// What a named type, or one by another name, is made of.
func (s *scanner) noteType(typ types.Type) {
	named, ok := types.Unalias(typ).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.TypeArgs().Len() > 0 {
		return
	}
	if _, has := s.others[named.Obj().Pkg().Path()][named.Obj().Name()]; has && isAggregate(named) {
		return // other builds may have other fields
	}
	s.types[typeText(typ)] = madeOf(named)
}

func isAggregate(typ types.Type) bool {
	switch typ.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// signature notes any function with a symbol of its own.
func (s *scanner) signature(fn *types.Func) {
	if fn == nil || symbol(fn) == "" || fn.Name() == "init" || fn.Name() == "_" {
		return
	}
	sig := fn.Type().(*types.Signature)
	s.all[symbol(fn)], s.public[symbol(fn)] = signatureText(sig), isPublic(fn)
	for _, v := range params(sig) {
		s.noteType(v.Type())
	}
	for i := 0; i < sig.Results().Len(); i++ {
		s.noteType(sig.Results().At(i).Type())
	}
}

func (s *scanner) forwarder(info *types.Info, decl *ast.FuncDecl) {
	own, _ := info.Defs[decl.Name].(*types.Func)
	if decl.Body == nil || own == nil || symbol(own) == "" {
		return
	}
	l := looker{s: s, info: info, changed: map[types.Object]bool{}}
	l.statements(decl.Body)
	if l.bad || len(l.calls) != 1 {
		return
	}
	call := l.calls[0]
	fn, sel := l.callee(call)
	if fn == nil || symbol(fn) == "" || sel != nil && sel.Kind() != types.MethodVal {
		return
	}
	if l.callsWithin(call, symbol(fn)) {
		return
	}
	ownSig, sig := own.Type().(*types.Signature), fn.Type().(*types.Signature)
	if sig.Params().Len() > 9 || sig.Params().Len() > len(call.Args) && !sig.Variadic() {
		return
	}
	passes, any := l.passes(params(ownSig), params(sig), arguments(call, sig, sel))
	if !any {
		return
	}
	if returnsCall(decl.Body, call) && sameResults(ownSig.Results(), sig.Results()) {
		passes += "="
	}
	for _, v := range append(params(ownSig), params(sig)...) {
		s.noteType(v.Type())
	}
	for i := 0; strings.HasSuffix(passes, "=") && i < sig.Results().Len(); i++ {
		s.noteType(sig.Results().At(i).Type())
	}
	name := symbol(own)
	s.found[name] = forwarder{name, signatureText(ownSig), symbol(fn), signatureText(sig), passes,
		isPublic(own)}
}

func (s *scanner) importAll() error {
	src := filepath.Join(s.ctx.GOROOT, "src") + "/"
	return filepath.Walk(src, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.IsDir() || path == src {
			return err
		}
		name := info.Name()
		if name == "testdata" || name == "cmd" || name == "vendor" || name[0] == '_' {
			return filepath.SkipDir
		}
		s.Import(strings.TrimPrefix(path, src))
		return nil
	})
}

func main() {
	minor, err := strconv.Atoi(os.Args[2])
	goroot, err2 := filepath.EvalSymlinks(os.Args[1])
	if err != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, "scan:", err, err2)
		os.Exit(1)
	}
	s := newScanner(goroot, minor, os.Args[3])
	if err := s.importAll(); err != nil {
		fmt.Fprintln(os.Stderr, "scan:", err)
		os.Exit(1)
	}
	for path, files := range s.files {
		for _, file := range files {
			for _, decl := range file.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if ok && s.isInAllBuilds(path, file, fn) {
					own, _ := s.infos[path].Defs[fn.Name].(*types.Func)
					s.signature(own)
				}
				if ok && onlyPlatform(file) {
					s.forwarder(s.infos[path], fn)
				}
			}
		}
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, name := range sorted(s.types) {
		fmt.Fprintf(out, "%s\t%s\n", name, s.types[name])
	}
	for _, name := range sorted(s.all) {
		fmt.Fprintf(out, "%s\t%s\t%v\n", name, s.all[name], s.public[name])
	}
	for _, name := range sorted(s.found) {
		f := s.found[name]
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%v\n", f.name, f.signature, f.callee, f.calleeSignature,
			f.passes, f.exported)
	}
}

func sorted[V any](from map[string]V) []string {
	var names []string
	for name := range from {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
